"""Attacks by the holder of a token with a low role, or for one cluster."""

import json
import random
import sqlite3
import threading
import time

from lab import together, waits_for

BIG = 'name = "big"\n' + "".join(
    f'[[hosts]]\nid = "h{n}"\ncpu.cores = 40\nmemory.total = "25 GiB"\n' for n in range(200)
)


def bodies(lab, body, kind="application/json", statuses=(400, 413, 422)):
    """A viewer's body that is all wrong, larger each time: memory and answer stay bounded."""
    server = lab.server
    for times in (1, 3, 10):
        got = server.ask("POST", "/v1/clusters/north/why?host=h1", body(times), token="viewer", limit=90, kind=kind)
        lab.check(server.alive(), f"alive after a body of {len(body(times)) >> 20} MiB")
        if not server.alive():
            return
        lab.reaches(f"a body of {len(body(times)) >> 20} MiB", [got.status], statuses)
        lab.check(len(got.body) < 2 << 20, f"answer to {len(body(times)) >> 20} MiB: {got}")


def body_of_nulls(lab):
    """13 million nulls at most."""
    bodies(lab, lambda times: b'{"a":[' + b"null," * (1_300_000 * times) + b"null]}")


def body_of_numbers(lab):
    """20 million zeros at most."""
    bodies(lab, lambda times: b'{"a":[' + b"0," * (2_000_000 * times) + b"0]}")


def body_of_unknown_keys(lab):
    """4 million keys that nobody knows at most, each with the search for one that is alike."""
    bodies(lab, lambda times: b"{" + b",".join(b'"memor%07d":1' % n for n in range(400_000 * times)) + b"}")


def body_of_tables(lab):
    """A million tables of a TOML document at most."""
    bodies(lab, lambda times: b"[[vms]]\n" * (200_000 * times), kind="application/toml")


def body_long_ids(lab):
    """Placements with ids of 1 MB, which every list and event would repeat."""
    server, grown = lab.server, lab.server.memory()
    got = []
    for number in range(60):
        vm = {"id": f"{number}" + "i" * (1 << 20), "cpu": 1, "memory": 1 << 20}
        got.append(server.ask("POST", "/v1/clusters/north/place", vm, limit=30).status)
    lab.reaches("placements", got, [400, 413, 422], 60)
    grown = server.memory() - grown
    lab.check(grown < 300, f"{grown:.0f} MiB more afterwards")


def bodies_at_once(lab):
    """40 large bodies at the same time."""
    body = b'{"a":[' + b"null," * 1_300_000 + b"null]}"
    got = []
    ask = lambda _: got.append(lab.server.ask("POST", "/v1/clusters/north/why?host=h1", body, token="viewer", limit=60).status)
    together(40, ask)
    lab.reaches("bodies", got, [400, 413, 422], 8)


def batch_without_end(lab):
    """An operator's batch with a search as long as may be must not keep others from changing units."""
    server = lab.server
    server.make_cluster("big", BIG)
    batch = {"vms": [{"id": f"b{n}", "cpu": "1 core", "memory": "1 GiB"} for n in range(10_000)]}
    path = f"/v1/clusters/big/place-batch?dry-run=true&search=100000"
    searched, ends, body = [], threading.Event(), json.dumps(batch)

    def search():
        while not ends.is_set():
            searched.append(server.ask("POST", path, body, token="operator", limit=60).status)

    thread = threading.Thread(target=search, daemon=True)
    thread.start()
    time.sleep(2)
    got = server.ask("POST", "/v1/units/pod-binding/disable", limit=20)
    lab.check(got.status != 0, f"an administrator disables a unit: {got}")
    got = server.ask("GET", "/v1/units", token="viewer", limit=10)
    lab.check(got.status == 200 and got.seconds < 5, f"a viewer lists units: {got}")
    policy = "filters = []\n[[costs]]\nunit = 'worst-fit'\n"
    got = server.ask("PUT", "/v1/policies/new", policy, headers={"If-None-Match": "*"}, kind="application/toml", limit=20)
    lab.check(got.status in (200, 201), f"a policy is written: {got}")
    vm = {"id": "q", "cpu": 1, "memory": 1 << 30}
    got = server.ask("POST", "/v1/clusters/big/place", vm, token="operator", limit=30)
    lab.check(got.status != 0, f"a placement behind it is answered: {got}")
    time.sleep(2)
    ends.set()
    stopped = lab.stop(40)
    lab.check(stopped is not None, f"SIGTERM ends it in {stopped} s")
    thread.join(70)
    lab.check(searched and set(searched) <= {0, 200, 503, 504}, f"batches were searched: {searched}")


def batches_one_after_the_other(lab):
    """Large batches without a search from one operator: others place on."""
    server = lab.server
    server.make_cluster("big", BIG)
    batch = {"vms": [{"id": f"b{n}", "cpu": "1 core", "memory": "1 GiB"} for n in range(5_000)]}
    body = json.dumps(batch)
    done = []
    work = lambda _: done.append(server.ask("POST", "/v1/clusters/big/place-batch?dry-run=true", body, token="operator", limit=60).status)
    together(6, work)
    lab.reaches("batches", done, [200], 2)
    got = server.ask("GET", "/v1/units", token="viewer", limit=10)
    lab.check(got.status == 200, f"units are listed: {got}")


def dry_runs_of_a_viewer(lab):
    """A viewer's dry runs with a search as long as may be, many at a time: the operator of the same
    cluster places on."""
    server = lab.server
    server.make_cluster("big", BIG)
    viewer = {"name": "big-viewer", "role": "viewer", "clusters": ["big"]}
    viewer = server.ask("POST", "/v1/tokens", viewer).json()["secret"]
    body = json.dumps({"vms": [{"id": f"b{n}", "cpu": "1 core", "memory": "1 GiB"} for n in range(10_000)]})
    path = "/v1/clusters/big/place-batch?dry-run=true&search=100000"
    tried, ends = [], threading.Event()

    def attempt(_):
        while not ends.is_set():
            headers = {"Authorization": f"Bearer {viewer}"}
            tried.append(server.ask("POST", path, body, token=None, limit=60, headers=headers).status)

    threads = [threading.Thread(target=attempt, args=(n,), daemon=True) for n in range(16)]
    for thread in threads:
        thread.start()
    time.sleep(2)
    for number in range(3):
        vm = {"id": f"o{number}", "cpu": 1, "memory": 1 << 30}
        got = server.ask("POST", "/v1/clusters/big/place", vm, token="operator", limit=30)
        lab.check(got.status == 200 and got.seconds < 8, f"the operator places: {got} after {got.seconds:.1f} s")
    ends.set()
    for thread in threads:
        thread.join(70)
    lab.reaches("dry runs", tried, [200, 503, 504], 3)


def misspelt_hosts(lab):
    """A viewer asks for hosts that are not there, with long names, of a cluster of 10,000."""
    server = lab.server
    hosts = [{"id": f"host-{n:05}", "cpu.cores": 40, "memory.total": "512 GiB"} for n in range(10_000)]
    server.make_cluster("north2", {"name": "north2", "hosts": hosts})
    times, missed, end = [], [], time.monotonic() + 8
    vm = {"id": "q", "cpu": 1, "memory": 1 << 30, "dry-run": True}
    place = lambda: server.ask("POST", "/v1/clusters/north2/place", vm, limit=30).seconds
    place()
    before = min(place() for _ in range(20))

    def miss(_):
        while time.monotonic() < end:
            missed.append(server.ask("GET", "/v1/clusters/north2/hosts/" + "z" * 100, limit=30).status)
            time.sleep(0.1)

    threads = [threading.Thread(target=miss, args=(n,), daemon=True) for n in range(4)]
    for thread in threads:
        thread.start()
    while time.monotonic() < end:
        times.append(place())
    lab.reaches("hosts that are not there", missed, [404], 20)
    times.sort()
    middle = times[len(times) // 2]
    lab.check(middle < max(10 * before, 0.1), f"a placement there takes {1000 * middle:.0f} ms, alone {1000 * before:.0f} ms")
    for thread in threads:
        thread.join(40)


def questions_of_callers_who_leave(lab):
    """600 questions about 500 hosts, of callers who do not wait for the answer."""
    server = lab.server
    hosts = [{"id": f"h{n}", "cpu.cores": 40, "memory.total": "512 GiB"} for n in range(500)]
    server.make_cluster("large", {"name": "large", "hosts": hosts})
    vm, left = {"id": "q", "cpu": 1, "memory": 1}, []

    def ask(_):
        for _ in range(10):
            left.append(server.ask("POST", "/v1/clusters/large/capacity?at-most=100000", vm, limit=1).status)

    together(60, ask)
    lab.reaches("questions", left, [0], 60)
    got = server.ask("GET", "/v1/units", token="viewer", limit=20)
    lab.check(got.status == 200 and got.seconds < 5, f"units are listed: {got}")
    body = {"id": "w" * 20_000, "cpu": 1, "memory": 1}
    got = server.ask("POST", "/v1/clusters/north/why?host=h1", body, token="viewer", limit=20)
    lab.check(got.status != 0 and got.seconds < 5, f"a larger body is answered: {got}")
    idle = waits_for(lambda: server.load(1) < 0.3, 20)
    lab.check(idle, "nobody works for callers who left")


def all_or_nothing(lab):
    """70,000 changes of which the last is wrong: nothing changes, not even after a kill."""
    server = lab.server
    vms = [{"id": f"v{n:06}", "host": "h1"} for n in range(70_000)] + [{"id": "z", "host": "nope"}]
    count = lambda: server.ask("GET", "/v1/clusters/north", limit=30).json()
    before = json.dumps(count().get("vms"))
    got = server.ask("POST", "/v1/clusters/north/inventory/changes", {"vms": vms}, limit=90)
    lab.check(got.status in (404, 422) and b"nope" in got.body, f"it is refused: {got} {got.body[:200]}")
    lab.check(json.dumps(count().get("vms")) == before, "nothing of it is there")
    server.kill()
    lab.check(server.start(), "it starts again")
    lab.check(json.dumps(count().get("vms")) == before, "nothing of it is there after a kill")


def descending_hosts(lab):
    """20,000 hosts in descending order cost about as much as in ascending order."""
    times = []
    for name, order in (("up", 1), ("down", -1)):
        hosts = [{"id": f"h{n:06}", "cpu.cores": 4, "memory.total": 1 << 33} for n in range(20_000)][::order]
        begin = time.monotonic()
        lab.server.make_cluster(name, {"name": name, "hosts": hosts})
        times.append(time.monotonic() - begin)
    lab.check(times[1] < 3 * times[0] + 1, f"ascending {times[0]:.1f} s, descending {times[1]:.1f} s")


def failures_repeated(lab):
    """What failed once with a key is not repeated when it could be carried out."""
    server, vm = lab.server, {"id": "v", "cpu": 1, "memory": 1 << 30}
    place = lambda: server.ask("POST", "/v1/clusters/later/place", vm, headers={"Idempotency-Key": "k"})
    first = place()
    lab.check(first.status == 404, f"before the cluster is there: {first}")
    server.make_cluster("later")
    again = place()
    lab.check(again.status == 200, f"once it is there: {again}")


def policy_of_others(lab):
    """The author of one cluster must not write what another one wrote and has not attached yet."""
    server, policy = lab.server, "filters = []\n[[costs]]\nunit = 'worst-fit'\n"
    new = {"If-None-Match": "*"}
    got = server.ask("PUT", "/v1/policies/theirs", policy, headers=new, kind="application/toml")
    lab.check(got.status in (200, 201), f"an administrator writes one: {got}")
    other = {"If-Match": "*"}
    got = server.ask("PUT", "/v1/policies/theirs", policy + "factor = 9\n", token="author", headers=other, kind="application/toml")
    lab.check(got.status == 403, f"somebody else changes it: {got}")
    got = server.ask("DELETE", "/v1/policies/theirs", token="author", headers=other)
    lab.check(got.status == 403, f"somebody else removes it: {got}")


def large_policies(lab):
    """Policies of 20 MB, of which revisions are kept."""
    server = lab.server
    text = "filters = []\n[[costs]]\nunit = 'worst-fit'\n# " + "x" * (20 << 20)
    for _ in range(5):
        got = server.ask("PUT", "/v1/policies/large", text, headers={"If-Match": "*"}, kind="application/toml", limit=60)
    lab.check(got.status == 413, f"one of 20 MB is refused: {got} {got.body[:200]}")
    lab.check(server.stored() < 50, f"{server.stored():.0f} MiB are stored")


def names_of_others(lab):
    """What a token for one cluster reads names no other."""
    server = lab.server
    server.make_cluster("secret-tenant", policy="best-fit")
    policy = "# for secret-tenant\nfilters = []\n[[costs]]\nunit = 'worst-fit'\n"
    server.ask("PUT", "/v1/policies/of-theirs", policy, headers={"If-None-Match": "*"}, kind="application/toml")
    settings = server.ask("GET", "/v1/clusters/secret-tenant/settings")
    tag = settings.headers.get("etag") or settings.headers.get("ETag") or "*"
    got = server.ask("PUT", "/v1/clusters/secret-tenant/settings", {"policy": "of-theirs"}, headers={"If-Match": tag})
    lab.check(got.status == 200, f"it decides there: {got}")
    got = server.ask("POST", "/v1/units/best-fit/disable")
    lab.check(got.status == 409, f"its unit is in use: {got} {got.body[:200]}")
    for path in ("/v1/clusters", "/v1/policies", "/v1/policies/of-theirs", "/v1/policies/of-theirs/history",
                 "/v1/units/worst-fit", "/v1/units/worst-fit/history", "/v1/ready"):
        got = server.ask("GET", path, token="viewer")
        lab.check(b"secret-tenant" not in got.body, f"GET {path} by a viewer of north: {got.status}")
        lab.check(str(server.base).encode() not in got.body, f"GET {path} tells no path")


def numbers_after_restart(lab):
    """Measured numbers are the same to the last bit after a restart."""
    server, random_numbers = lab.server, random.Random(7)
    hosts = [{"id": f"h{n}", "cpu.cores": 4, "memory.total": 1 << 33, "cpu.usage": random_numbers.random()} for n in range(500)]
    server.make_cluster("numbers", {"name": "numbers", "hosts": hosts})
    read = lambda: server.ask("GET", "/v1/clusters/numbers/inventory", limit=30).body
    before = json.loads(read())
    server.kill()
    lab.check(server.start(), "it starts again")
    lab.check(json.loads(read()).get("hosts") == before.get("hosts"), "every number is what it was")


def told_in_time(lab):
    """Behind a long turn whoever waits is told so when his time is over."""
    server = lab.server
    server.make_cluster("big", BIG)
    batch = {"vms": [{"id": f"b{n}", "cpu": "1 core", "memory": "1 GiB"} for n in range(10_000)]}
    path = "/v1/clusters/big/place-batch?dry-run=true&search=100000"
    turns = []
    ask = lambda: turns.append(server.ask("POST", path, batch, token="operator", limit=60))
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    time.sleep(1)
    lab.check(not turns, "the turn is long")
    vm = {"id": "q", "cpu": 1, "memory": 1 << 30}
    got = server.ask("POST", "/v1/clusters/big/place", vm, token="operator", limit=20)
    lab.check(got.status != 0 and got.seconds < 14, f"an answer within decision-wait: {got}")
    thread.join(70)


def one_bad_row(lab):
    """A row of one cluster that cannot be read keeps no other cluster from deciding."""
    server = lab.server
    server.make_cluster("bad")
    server.stop(30)
    base = sqlite3.connect(server.data / "placewright.db")
    base.execute("UPDATE clusters SET body = '{' WHERE name = 'bad'")
    base.commit()
    base.close()
    lab.check(server.start(), "it starts and is ready")
    vm = {"id": "q", "cpu": 1, "memory": 1 << 30}
    got = server.ask("POST", "/v1/clusters/north/place", vm)
    lab.check(got.status == 200, f"another cluster decides: {got}")
    got = server.ask("GET", "/v1/clusters")
    lab.check(got.status == 200, f"clusters are listed: {got}")


def stop_while_it_plans(lab):
    """SIGTERM ends it while a plan is made; SIGHUP does not end it."""
    server = lab.server
    hosts = [{"id": f"h{n}", "cpu.cores": 40, "memory.total": "64 GiB",
              "vms": [{"id": f"v{n}-{k}", "cpu": 1, "memory": "1 GiB"} for k in range(60 if n < 100 else 1)]}
             for n in range(600)]
    server.make_cluster("plans", {"name": "plans", "hosts": hosts}, policy="even-distribution")
    server.process.send_signal(1)
    time.sleep(1)
    lab.check(server.alive(), "SIGHUP does not end it")
    plans, emptied = [], {"hosts": [f"h{n}" for n in range(100)]}
    thread = threading.Thread(target=lambda: plans.append(server.ask("POST", "/v1/clusters/plans/evacuate", emptied, limit=60)), daemon=True)
    thread.start()
    # It is made in 0.4 s where nothing else runs.
    time.sleep(0.1)
    lab.check(not plans, f"the plan is being made: {plans[0] if plans else ''}")
    stopped = lab.stop(40)
    lab.check(stopped is not None, f"SIGTERM ends it in {stopped} s")
    thread.join(40)


ATTACKS = [
    body_of_nulls, body_of_numbers, body_of_unknown_keys, body_of_tables, body_long_ids, bodies_at_once,
    batch_without_end, batches_one_after_the_other, dry_runs_of_a_viewer, misspelt_hosts,
    questions_of_callers_who_leave,
    all_or_nothing, descending_hosts, failures_repeated, policy_of_others, large_policies,
    names_of_others, numbers_after_restart, told_in_time, one_bad_row, stop_while_it_plans,
]
