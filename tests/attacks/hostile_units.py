"""Attacks by whoever may drop or upload a unit. The units are made by `hostile-units`."""

import os
import time

from lab import waits_for


def upload(lab, name, step, why, limit=20):
    """PUT a unit: it must be refused at that step and for that reason, and nobody may work on it afterwards."""
    got = lab.server.ask("PUT", "/v1/units", lab.unit(name), kind="application/wasm", limit=limit)
    lab.check(len(got.body) < 1 << 20, f"the answer has {len(got.body)} bytes")
    outcome = got.json().get("outcome", {})
    refused = got.status == 422 and outcome.get("step") == step and why in outcome.get("why", "")
    lab.check(refused, f"{name} is refused at the step {step}: {got}, {str(outcome)[:300]}")
    busy = lab.server.load(3)
    lab.check(busy < 0.5, f"{busy:.2f} cores are busy afterwards")


def refused_file(lab, name):
    """Whether a file of the folder is told of as refused, in time."""

    def told():
        items = lab.server.ask("GET", "/v1/unit-files", limit=30).json().get("items", [])
        return any(item["path"].endswith(f"/{name}.wasm") and item.get("trouble") for item in items)

    return waits_for(told, 60)


def description_long_texts(lab):
    """Files whose summary is 5 MB of control characters, and a restart on them."""
    server, unit = lab.server, lab.unit("summary-large")
    for number in range(5):
        # Each with a section of its own, so that they differ.
        server.drop(f"evil-{number}", unit + b"\x00\x06\x01n" + b"%04d" % number)
        time.sleep(2)
    lab.check(refused_file(lab, "evil-4"), "the last one is looked at, and refused")
    got = server.ask("GET", "/v1/unit-files", limit=30)
    lab.check(0 < len(got.body) < 1 << 20, f"GET /v1/unit-files: {got}")
    lab.check(server.stored() < 50, f"{server.stored():.0f} MiB are stored")
    lab.check(server.log.stat().st_size < 50 << 20, f"log of {server.log.stat().st_size >> 20} MiB")
    server.kill()
    lab.check(server.start(), "it starts again")
    lab.check(server.memory() < 600, f"{server.memory():.0f} MiB after a restart")


def description_quadratic_names(lab):
    """A setting and a column with names of 1 MB, which a suggestion would compare."""
    upload(lab, "names-large", "describe", "more than 1.0 MiB")


def description_many_patterns(lab):
    """1,500 settings with a pattern that takes long to compile."""
    upload(lab, "patterns", "describe", "1500 settings, and at most 256")


def description_many_reasons(lab):
    """255 reasons of 200 KB, which every decision would tell."""
    upload(lab, "reasons-large", "describe", "more than 1.0 MiB")


def compile_computed_elements(lab):
    """Element segments whose offset is computed: each element becomes code."""
    upload(lab, "elements", "contract", "too much to compile", limit=150)


def compile_many_locals(lab):
    """One function of 10,000 locals and as many branches."""
    upload(lab, "locals", "contract", "too much to compile", limit=150)


def compile_large_code(lab):
    """20 MB of plain functions."""
    upload(lab, "code-large", "probes", "", limit=150)


def compile_at_every_start(lab):
    """The same as a file: the server must start with it, and again after a kill."""
    server = lab.server
    server.drop("locals", lab.unit("locals"))
    lab.check(refused_file(lab, "locals"), "the file is refused")
    for _ in range(2):
        server.kill()
        lab.check(server.start(), "it starts again")
        lab.check(server.ask("GET", "/v1/units", limit=10).status == 200, "units are told of")
        time.sleep(3)


def memory_of_many_instances(lab):
    """A unit that is sound while it is tried, and grows its memory to the limit when it decides, in many clusters."""
    server = lab.server
    got = server.ask("PUT", "/v1/units", lab.unit("memory-eater"), kind="application/wasm", limit=60)
    lab.check(got.status in (200, 201), f"it comes into force: {got} {got.body[-300:]}")
    policy = "filters = []\n[[costs]]\nunit = 'memory-eater'\nsettings = { answer = '!eat' }\n"
    got = server.ask("PUT", "/v1/policies/eats", policy, headers={"If-None-Match": "*"}, kind="application/toml")
    lab.check(got.status in (200, 201), f"a policy of it: {got}")
    before, decided = lab.peak(), []
    for number in range(16):
        document = f'name = "e{number}"\n[[hosts]]\nid = "h"\ncpu.cores = 4\nmemory.total = "8 GiB"\n'
        server.ask("POST", "/v1/clusters?policy=eats", document, kind="application/toml")
        vm = {"id": "v", "cpu": 1, "memory": 1 << 30}
        decided.append(server.ask("POST", f"/v1/clusters/e{number}/place", vm, limit=20).status)
    lab.reaches("placements of it", decided, [200], 1)
    grown = lab.peak() - before
    lab.check(grown > 150, f"{grown:.0f} MiB more at most: it does take memory")


def folder_fifo(lab):
    """A unit's file that becomes a FIFO while the folder is looked at."""
    server, end = lab.server, time.monotonic() + 10
    folder = server.data / "units"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "swap.wasm"
    while time.monotonic() < end:
        path.write_bytes(lab.unit("summary-large")[:100])
        time.sleep(0.01)
        path.unlink()
        os.mkfifo(path)
        time.sleep(0.01)
        path.unlink()
    server.drop("sound", lab.plugin("worst-fit") + b"\x00\x06\x01nfifo")
    seen = waits_for(lambda: b"sound" in server.ask("GET", "/v1/unit-files").body, 15)
    lab.check(seen, "a file behind it is looked at")
    stopped = lab.stop(20)
    lab.check(stopped is not None, f"SIGTERM ends it: {stopped}")


def folder_name_not_utf8(lab):
    """A copy of a unit under a name that is no UTF-8 must not stop later changes."""
    server = lab.server
    unit = lab.plugin("worst-fit") + b"\x00\x06\x01nfst1"
    server.drop("x", unit)
    time.sleep(4)
    with open(os.fsencode(str(server.data / "units")) + b"/\xff.wasm", "wb") as file:
        file.write(unit)
    time.sleep(4)
    other = lab.plugin("best-fit") + b"\x00\x06\x01nscnd"
    got = server.ask("PUT", "/v1/units", other, kind="application/wasm", limit=60)
    lab.check(got.status in (200, 201), f"another unit comes into force: {got} {got.body[:200]}")


def folder_rewritten_all_the_time(lab):
    """A file of 30 MB that is written anew each second while another one is compiled."""
    server, before = lab.server, lab.server.memory()
    server.drop("slow", lab.unit("code-large"))
    for number in range(10):
        server.drop("again", os.urandom(1 << 20) * 30)
        time.sleep(1)
    lab.check(refused_file(lab, "again"), "the file is looked at once it is whole")
    grown = lab.peak() - before
    lab.check(grown < 1200, f"{grown:.0f} MiB more at most")


def trust_after_restart(lab):
    """A unit that came in unsigned must not decide once signatures are required."""
    server = lab.server
    unit = lab.plugin("worst-fit") + b"\x00\x06\x01ntrst"
    got = server.ask("PUT", "/v1/units", unit, kind="application/wasm", limit=60)
    lab.check(got.status in (200, 201), f"without the requirement it is taken: {got}")
    in_force = lambda: (lambda unit: unit.get("in-force") or unit.get("in_force"))(server.ask("GET", "/v1/units/worst-fit").json())
    digest = in_force()
    lab.check(digest is not None, "it is in force")
    server.stop(30)
    key = "58" + "66" * 31
    server.configure(more=f'require-signatures = true\n[[trusted-keys]]\nname = "k"\ned25519 = "{key}"\n')
    lab.check(server.start(), "it starts")
    now = in_force()
    lab.check(now != digest, "the unsigned unit is no longer in force")
    back = server.ask("POST", "/v1/units/worst-fit/rollback", {"digest": digest})
    lab.check(back.status >= 400, f"nobody can go back to it: {back}")


ATTACKS = [
    description_long_texts,
    description_quadratic_names,
    description_many_patterns,
    description_many_reasons,
    compile_computed_elements,
    compile_many_locals,
    compile_large_code,
    compile_at_every_start,
    memory_of_many_instances,
    folder_fifo,
    folder_name_not_utf8,
    folder_rewritten_all_the_time,
    trust_after_restart,
]
