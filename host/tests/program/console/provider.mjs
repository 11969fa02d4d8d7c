// An OpenID Connect provider with two people. Prints its issuer, and serves until it is killed.
//
//   node provider.mjs MODULES CLIENT SECRET REDIRECT
import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, client, secret, redirect] = process.argv.slice(2);
const found = createRequire(`${modules}/`).resolve("oidc-provider");
const { default: Provider } = await import(pathToFileURL(found));

const GROUPS = { ann: ["staff", "operators"], eve: ["visitors"] };

const server = createServer();
server.listen(0, "127.0.0.1");
await once(server, "listening");
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
  clients: [{ client_id: client, client_secret: secret, redirect_uris: [redirect] }],
  claims: { openid: ["sub"], groups: ["groups"] },
  cookies: { keys: ["of a test"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, groups: GROUPS[id] }),
  }),
});
server.on("request", provider.callback());
console.log(issuer);
