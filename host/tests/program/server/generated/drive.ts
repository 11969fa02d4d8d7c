// Places a VM, asks why it went there, confirms it and plans, with types that were generated.
// Its arguments are where the server is and a token. tsc checks it before it runs.

import createClient from "openapi-fetch";
import type { components, paths } from "./contract.js";

type Schemas = components["schemas"];

const [url, token] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };
const client = createClient<paths>({ baseUrl: url ?? "", headers });

function must(holds: boolean, about: unknown): asserts holds {
  if (!holds) {
    throw new Error(JSON.stringify(about));
  }
}

function data<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) {
    throw new Error(JSON.stringify(answer.error));
  }
  return answer.data;
}

const of = { path: { cluster: "typescript" } };

const document: Schemas["ClusterDocument"] = {
  name: "typescript",
  hosts: ["h1", "h2"].map((id) => ({ id, "cpu.cores": 16, "memory.total": "64 GiB" })),
};
const created = data(
  await client.POST("/v1/clusters", { params: { query: { policy: "worst-fit" } }, body: document }),
);
must(created.counted?.hosts === 2, created);

const wanted: Schemas["VmToPlace"] = { id: "web-1", cpu: 2, memory: "4 GiB", allowed: ["h1"] };
const placed: Schemas["Placement"] = data(
  await client.POST("/v1/clusters/{cluster}/place", { params: of, body: wanted }),
);
must(placed.host === "h1" && placed.reserved, placed);

const explained = data(
  await client.GET("/v1/clusters/{cluster}/decisions/{number}/explanation", {
    params: { path: { cluster: "typescript", number: placed.number } },
  }),
);
must(explained.chosen === "h1", explained);
const costs: (number | null)[] = explained.stages.flatMap((stage) =>
  stage.hosts.flatMap((host) => (host.costs ?? []).map((cost) => cost.weighted)),
);
must(costs.length > 0, explained);

const confirmed = await client.POST("/v1/clusters/{cluster}/confirm", {
  params: of,
  body: { vms: ["web-1"], host: "h1" },
});
must(confirmed.response.status === 204, confirmed);

const batch = data(
  await client.POST("/v1/clusters/{cluster}/place-batch", {
    params: { ...of, query: { "all-or-nothing": true } },
    body: { vms: [{ id: "web-2", cpu: 1, memory: "1 GiB" }, "web-1"], again: true },
  }),
);
must(batch.decisions.length === 2, batch);
const both = await client.POST("/v1/clusters/{cluster}/confirm", {
  params: of,
  body: { vms: [{ id: "web-2" }] },
});
must(both.response.status === 204, both);

const why = data(
  await client.POST("/v1/clusters/{cluster}/why", {
    params: { ...of, query: { host: "h2" } },
    body: { id: "huge", cpu: 1, memory: "1 TiB" },
  }),
);
must(why.standing === "removed", why);
const filters: string[] = why.by.map((removal) => removal.filter);
must(filters.length > 0, why);

const changed = data(
  await client.PATCH("/v1/clusters/{cluster}/hosts/{host}", {
    params: { path: { cluster: "typescript", host: "h1" } },
    body: { state: "maintenance" },
  }),
);
const memory: number | undefined = changed["memory.total"];
must(changed.state === "maintenance" && memory === 64 * 2 ** 30, changed);

const plan: Schemas["Plan"] = data(
  await client.POST("/v1/clusters/{cluster}/plans", { params: of, body: {} }),
);
must(plan.number === 1 && plan.moves.length > 0, plan);
const begun = data(
  await client.POST("/v1/clusters/{cluster}/plans/{number}/begin", {
    params: { path: { cluster: "typescript", number: 1 } },
    body: { moves: [1, { id: "web-1" }] },
  }),
);
must(begun.counted.begun >= 1, begun);

const refused = await client.POST("/v1/clusters/{cluster}/place", {
  params: { path: { cluster: "nowhere" } },
  body: wanted,
});
must(refused.error?.code === "not-found", refused);

// @ts-expect-error A VM without an id is none.
const nameless: Schemas["VmToPlace"] = { cpu: 1 };
must(nameless.id === undefined, nameless);
