"""Attacks by what requests leave behind, by what is asked for at the same time, and by authority that has ended."""

import datetime
import http.client
import json
import threading
import time

from lab import secret, together, waits_for

SECRET_LENGTH = 4000


def collections(lab, cluster):
    """Bytes of the collections of a cluster and what they may have, by the names of the metrics."""
    kept, bounds = {}, {}
    metrics = lab.server.ask("GET", "/metrics", limit=60)
    lab.check(metrics.status == 200, f"metrics are told: {metrics}", quiet=True)
    for line in metrics.body.decode().splitlines():
        for name, into in (("placewright_collection_bytes{", kept), ("placewright_collection_bound_bytes{", bounds)):
            if line.startswith(name) and f'cluster="{cluster}"' in line:
                into[line.split('collection="')[1].split('"')[0]] = float(line.rsplit(" ", 1)[1])
    return {name: (size, bounds.get(name)) for name, size in kept.items()}


def within(lab, cluster):
    """Every collection of a cluster is within its bound."""
    sizes = collections(lab, cluster)
    beyond = {name: it for name, it in sizes.items() if it[1] and name != "texts" and it[0] > it[1]}
    lab.check(sizes and not beyond, f"collections beyond their bounds: {beyond or 'none'}")
    return {name: round(size / (1 << 20), 1) for name, (size, _) in sizes.items() if size > 1 << 20}


def large(count, vms, host="h"):
    """Hosts that have room for anything, each with so many VMs."""
    return [{"id": f"{host}{n}", "cpu.cores": 4000, "memory.total": "80 TiB",
             "vms": [{"id": f"{host}{n}-v{k}", "cpu": 1, "memory": "1 GiB"} for k in range(vms)]} for n in range(count)]


def reservations_with_long_ends(lab):
    """Reservations for a day, as long as may be, with ids and names as long as may be, until the server takes no more."""
    server = lab.server
    server.make_cluster("big", {"name": "big", "hosts": large(20, 0)})
    got, end = [], time.monotonic() + 60
    for number in range(400):
        vms = [{"id": f"{number}-{k}-" + "i" * 230, "cpu": 0.001, "memory": 1 << 20, "name": "n" * 4000}
               for k in range(250)]
        batch = {"vms": vms, "reserve-for": 86400}
        answer = server.ask("POST", "/v1/clusters/big/place-batch", batch, token="operator", limit=60)
        got.append(answer.status)
        if answer.status != 200 or time.monotonic() > end:
            break
    lab.note(f"the last answer: {answer} {answer.body[:300] if answer.status != 200 else ''}")
    lab.reaches("batches", got, [200], 5)
    lab.note(f"kept: {within(lab, 'big')} MiB")
    lab.note(f"{server.memory():.0f} MiB are resident, {server.stored():.0f} MiB are stored")


def plans_made_and_removed(lab):
    """Plans of a cluster with much to move, made, begun and cancelled again and again."""
    server = lab.server
    hosts = large(60, 60)
    for host in hosts[:30]:
        host["state"] = "maintenance"
    server.make_cluster("big", {"name": "big", "hosts": hosts})
    before, got, end = server.memory(), [], time.monotonic() + 40

    def plan(_):
        while time.monotonic() < end:
            made = server.ask("POST", "/v1/clusters/big/plans", {"moves": 2000, "max-in-flight": 100}, token="operator", limit=60)
            got.append(made.status)
            number = made.json().get("number")
            if number is not None:
                server.ask("POST", f"/v1/clusters/big/plans/{number}/begin", {}, token="operator", limit=60)
                got.append(server.ask("POST", f"/v1/clusters/big/plans/{number}/cancel", {}, token="operator", limit=60).status)

    together(6, plan)
    lab.reaches("plans", got, [200, 201], 10)
    lab.note(f"kept: {within(lab, 'big')} MiB")
    grown = server.memory() - before
    lab.check(grown < 300, f"{grown:.0f} MiB more, {server.stored():.0f} MiB are stored")


def counters_in_texts(lab):
    """Texts of VMs, hosts, groups and tenants that are others in each change: what nobody uses is not kept."""
    server = lab.server
    server.make_cluster("big", {"name": "big", "attributes": {"hosts": {"note": "text"}, "vms": {"note": "text"}},
                                "hosts": large(20, 20)})
    sizes, got, end = [], [], time.monotonic() + 30
    number = 0
    while time.monotonic() < end:
        number += 1
        text = lambda n: f"{number}-{n}-" + "x" * SECRET_LENGTH
        changes = {"hosts": [{"id": f"h{n}", "attribute.note": text(n)} for n in range(20)],
                   "vms": [{"id": f"h{n}-v{k}", "attribute.note": text((n, k))} for n in range(20) for k in range(20)]}
        answer = server.ask("POST", "/v1/clusters/big/inventory/changes", changes, token="operator", limit=30)
        got.append(answer.status)
        if answer.status != 200:
            lab.note(f"{answer} {answer.body[:300]}")
            break
        sizes.append(server.memory())
    lab.reaches("changes", got, [200], 50)
    lab.note(f"{len(got)} changes of {len(json.dumps(changes)) >> 10} KiB")
    if sizes:
        middle, last = sizes[len(sizes) // 2], sizes[-1]
        lab.check(last < middle + 100, f"{middle:.0f} MiB half way, {last:.0f} MiB at the end")
    lab.note(f"kept: {within(lab, 'big')} MiB, {server.stored():.0f} MiB are stored")


def followers_who_do_not_read(lab):
    """400 followers of an inventory that changes as a whole all the time, none of whom reads."""
    server = lab.server
    server.ask("DELETE", "/v1/clusters/north", limit=60)
    server.make_cluster("north", {"name": "north", "hosts": large(100, 100)})
    held, got = [], []
    head = (f"GET /v1/clusters/north/inventory/follow HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {secret('viewer')}\r\n\r\n").encode()
    for _ in range(400):
        connection = server.socket(receive=4096)
        connection.sendall(head)
        held.append(connection)
    for connection in held:
        try:
            got.append(int(connection.recv(64)[9:12]))
        except (OSError, ValueError):
            got.append(0)
    lab.reaches("followers", got, [200], 50)
    before, end, changed = server.memory(), time.monotonic() + 25, []
    while time.monotonic() < end:
        usage = len(changed) % 7 / 10
        vms = [{"id": f"h{n}-v{k}", "memory": (1 << 30) + len(changed)} for n in range(100) for k in range(0, 100, 2)]
        changes = {"vms": vms, "statistics": [{"id": f"h{n}", "cpu.usage": usage} for n in range(100)]}
        changed.append(server.ask("POST", "/v1/clusters/north/inventory/changes", changes, limit=30).status)
    lab.reaches("changes", changed, [200], 5)
    grown = server.memory() - before
    lab.check(grown < 500, f"{grown:.0f} MiB more while nobody reads")
    for connection in held:
        connection.close()


def drafts_at_once(lab):
    """60 drafts of a policy of 1,000 entries, each tried on all decisions that are recorded, of one author."""
    server = lab.server
    for number in range(100):
        vm = {"id": f"v{number}", "cpu": 1, "memory": 1 << 20}
        server.ask("POST", "/v1/clusters/alpha/place", vm)
    entries = "".join(f'[[costs]]\nname = "c{n}"\nunit = "worst-fit"\n' for n in range(1000))
    got = []
    draft = lambda _: got.append(server.ask(
        "POST", "/v1/clusters/alpha/draft?policy=mine&decisions=10000&examples=1000", "filters = []\n" + entries,
        token="author", limit=90, kind="application/toml").status)
    together(60, draft)
    lab.reaches("drafts", got, [200], 1)
    idle = waits_for(lambda: server.load(1) < 0.5, 60)
    lab.check(idle, "nobody works for them afterwards")


def waits_for_room(lab):
    """Hundreds of placements that wait for room which never comes; another token of the cluster is served."""
    server = lab.server
    server.make_cluster("big")
    full = server.ask("POST", "/v1/clusters/big/place", {"id": "full", "cpu": 1, "memory": "500 GiB"})
    also = server.ask("POST", "/v1/clusters/big/place", {"id": "also", "cpu": 1, "memory": "500 GiB"})
    lab.check(full.status == also.status == 200, f"the cluster is full of reservations: {full}, {also}")
    got, ends = [], threading.Event()

    def wait(number):
        while not ends.is_set():
            vm = {"id": f"w{number}", "cpu": 1, "memory": "100 GiB"}
            got.append(server.ask("POST", "/v1/clusters/big/place?wait=300", vm, token="operator", limit=5).status)

    threads = [threading.Thread(target=wait, args=(number,), daemon=True) for number in range(300)]
    for thread in threads:
        thread.start()
    time.sleep(4)
    times = []
    for number in range(50):
        vm = {"id": f"s{number}", "cpu": 1, "memory": 1 << 30, "dry-run": True}
        times.append(server.ask("POST", "/v1/clusters/big/place", vm, token="operator-2", limit=20))
    ends.set()
    failed = sum(it.status != 200 for it in times)
    middle = sorted(it.seconds for it in times)[25]
    lab.check(failed == 0 and middle < 1, f"{failed} of 50 of another token failed; {1000 * middle:.0f} ms in the middle")
    for thread in threads:
        thread.join(20)
    lab.reaches("placements that wait", got, [0, 200], 100)
    lab.note(f"statuses: { {status: got.count(status) for status in set(got)} }")


def authority_that_expires(lab):
    """A token that expires while its streams, a kept connection and a placement that waits are open."""
    server = lab.server
    expires = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=8)
    new = {"name": "short", "role": "operator", "clusters": ["north"], "expires": expires.strftime("%Y-%m-%dT%H:%M:%SZ")}
    issued = server.ask("POST", "/v1/tokens", new)
    lab.check(issued.status == 201, f"it is issued: {issued} {issued.body[:200]}")
    bearer = {"Host": "localhost", "Authorization": f"Bearer {issued.json().get('secret')}"}
    vm = json.dumps({"id": "w", "cpu": 1, "memory": "900 GiB"})
    kept = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    kept.request("GET", "/v1/clusters/north", headers=bearer)
    got = kept.getresponse()
    got.read()
    lab.check(got.status == 200, f"the kept connection is served: {got.status}")
    ended = {}

    def stream(path):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", path, headers=bearer)
        answer = connection.getresponse()
        begin = answer.status
        try:
            while answer.read1(65536):
                pass
            ended[path] = (begin, time.time())
        except (OSError, http.client.HTTPException):
            ended[path] = (begin, time.time())

    paths = ["/v1/events", "/v1/clusters/north/inventory/follow"]
    threads = [threading.Thread(target=stream, args=(path,), daemon=True) for path in paths]
    for thread in threads:
        thread.start()
    end = expires.timestamp() + 6
    while time.time() < end:
        server.ask("POST", "/v1/clusters/north/inventory/changes", {"statistics": [{"id": "h1", "cpu.usage": time.time() % 1}]})
        time.sleep(0.2)
    for path in paths:
        begin, when = ended.get(path, (0, None))
        late = None if when is None else when - expires.timestamp()
        lab.check(begin == 200 and late is not None and late < 3, f"{path}: {begin}, ends {late} s after the token")
    kept.request("POST", "/v1/clusters/north/place", vm, {**bearer, "Content-Type": "application/json"})
    got = kept.getresponse()
    got.read()
    lab.check(got.status == 401, f"the kept connection is refused: {got.status}")


def sessions_of_one_token(lab):
    """A viewer who signs in without end, on the console and as an oVirt client: others stay signed in."""
    server = lab.server
    own = {"Sec-Fetch-Site": "same-origin"}
    form = lambda token: f"token={secret(token)}"
    kind = "application/x-www-form-urlencoded"
    first = server.ask("POST", "/sign-in", form("admin"), token=None, headers=own, kind=kind)
    cookie = next((value.split(";")[0] for name, value in first.headers.items() if name.lower() == "set-cookie"), "")
    lab.check(first.status == 303 and cookie, f"the admin signs in: {first}")
    sso = "grant_type=password&scope=ovirt-app-api&username=admin&password="
    token = server.ask("POST", "/ovirt-engine/sso/oauth/token", sso + secret("admin"), token=None, kind=kind,
                       headers={"Accept": "application/json"}).json().get("access_token")
    lab.check(token, "the admin has a token of oVirt's face")
    before, got, end = server.memory(), [], time.monotonic() + 15

    def sign_in(number):
        while time.monotonic() < end:
            if number % 2:
                got.append(server.ask("POST", "/sign-in", form("viewer"), token=None, headers=own, kind=kind).status)
            else:
                got.append(server.ask("POST", "/ovirt-engine/sso/oauth/token", sso + secret("viewer"), token=None, kind=kind,
                                      headers={"Accept": "application/json"}).status)

    together(4, sign_in)
    lab.reaches("sign-ins", got, [200, 303], 1500)
    grown = server.memory() - before
    lab.check(grown < 50, f"{grown:.0f} MiB more")
    page = server.ask("GET", "/", token=None, headers={"Cookie": cookie})
    lab.check(page.status == 200, f"the admin is still signed in: {page}")
    api = server.ask("GET", "/ovirt-engine/api", token=None, headers={"Authorization": f"Bearer {token}"})
    lab.check(api.status == 200, f"and in oVirt's face: {api}")


ATTACKS = [
    reservations_with_long_ends, plans_made_and_removed, counters_in_texts, followers_who_do_not_read, drafts_at_once,
    waits_for_room, authority_that_expires, sessions_of_one_token,
]
