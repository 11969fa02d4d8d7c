"""Attacks by holders of tokens of one cluster who take what all callers share."""

import json
import socket
import threading
import time

from lab import percentile, secret, together

def head(method, path, token, more=""):
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret(token)}\r\n{more}\r\n".encode()


def connections_of_two_viewers(lab):
    """896 connections of two viewers, idle but for a small question: others have theirs all the same."""
    server, ends, most = lab.server, threading.Event(), {}

    def hold(token, count):
        asked, held = head("GET", "/v1/clusters/north", token), []
        most[token] = 0
        while not ends.is_set():
            while len(held) < count and not ends.is_set():
                try:
                    held.append(server.socket())
                except OSError:
                    break
            for connection in list(held):
                try:
                    connection.sendall(asked)
                    if not connection.recv(65536).startswith(b"HTTP/1.1 200"):
                        held.remove(connection)
                except OSError:
                    held.remove(connection)
            most[token] = max(most[token], len(held))
            ends.wait(1)
        for connection in held:
            connection.close()

    threads = [threading.Thread(target=hold, args=it, daemon=True) for it in (("viewer", 512), ("viewer-2", 384))]
    for thread in threads:
        thread.start()
    time.sleep(5)
    failed = [got for got in (server.ask("GET", "/v1/clusters", limit=5) for _ in range(30)) if got.status != 200]
    ends.set()
    lab.check(sum(most.values()) > 700, f"they held {most}")
    lab.check(not failed, f"the admin is answered; {len(failed)} of 30 calls failed")
    for thread in threads:
        thread.join(20)


def failing_calls(lab):
    """Failing calls without end: changes of another token have records, and the log does not fill."""
    server, ends = lab.server, threading.Event()
    call = head("DELETE", "/v1/clusters/big/reservations/" + "\\" * 250, "operator", "X-Forwarded-For: " + "\\" * 250 + "\r\n")

    failed = [0] * 6

    def flood(number):
        connection = server.socket()
        while not ends.is_set():
            try:
                connection.sendall(call * 50)
                answers = 0
                while answers < 50:
                    part = connection.recv(1 << 20)
                    if not part:
                        raise OSError("closed")
                    answers += part.count(b"HTTP/1.1 404")
                failed[number] += answers
            except OSError:
                connection = server.socket()

    threads = [threading.Thread(target=flood, args=(n,), daemon=True) for n in range(6)]
    for thread in threads:
        thread.start()
    made = 0
    for number in range(60):
        got = server.ask("POST", "/v1/policies/worst-fit/clone", {"name": f"p{number}"}, limit=20)
        made += got.status == 201
        time.sleep(0.1)
    ends.set()
    for thread in threads:
        thread.join(20)
    lab.check(lab.stop(60) is not None, "the server ends, and with it the last window of the log")
    log = (server.data / "audit.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in log]
    counted = sum(record.get("left-out", 0) for record in records)
    counted += sum("/reservations/" in record.get("path", "") for record in records)
    lab.check(counted >= sum(failed) > 5_000, f"{counted} of {sum(failed)} failing calls are counted")
    told = sum(record.get("status") == 201 and record.get("path", "").endswith("/clone") for record in records)
    lab.check(made == 60 and told == 60, f"{made} policies were made, and {told} have records")
    lost = sum(record.get("lost", 0) for record in records)
    lab.check(lost == 0, f"{lost} records were lost")
    size = sum(len(line) for line in log)
    lab.check(size < 2 << 20, f"{size >> 10} KiB of records")


def checks_at_once(lab):
    """60 checks of policies of 1 MiB at the same time."""
    entries = "".join(f'[[costs]]\nname = "c{n}"\nunit = "worst-fit"\n' for n in range(20_000))[: (1 << 20) - 32]
    entries = "filters = []\n" + entries[: entries.rfind("[[costs]]")]
    got = []
    check = lambda _: got.append(lab.server.ask(
        "POST", "/v1/policies/big/check", entries, token="author", limit=60, kind="application/toml"
    ).status)
    together(60, check)
    lab.reaches("checks", got, [200, 422], 10)


def inventories_read_slowly(lab):
    """300 answers of a large inventory to one viewer who hardly reads them."""
    server = lab.server
    hosts = [{"id": f"h{n}", "cpu.cores": 1000, "memory.total": "8 TiB",
              "vms": [{"id": f"v{n}-{k}", "cpu": 1, "memory": "1 GiB"} for k in range(100)]} for n in range(400)]
    server.ask("DELETE", "/v1/clusters/north", limit=60)
    server.make_cluster("north", {"name": "north", "hosts": hosts})
    before, held, got = server.memory(), [], {}
    for _ in range(300):
        connection = server.socket(receive=4096)
        connection.sendall(head("GET", "/v1/clusters/north/inventory", "viewer"))
        held.append(connection)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for connection in held:
            connection.settimeout(0.001)
            try:
                told = connection.recv(256)
                if told.startswith(b"HTTP/1.1 "):
                    got[connection] = int(told[9:12])
            except (OSError, socket.timeout):
                pass
    lab.reaches("inventories", got.values(), [200], 8)
    grown = server.memory() - before
    lab.check(grown < 500, f"{grown:.0f} MiB more while they are read")
    got = server.ask("GET", "/v1/clusters/north/inventory", limit=60)
    lab.check(got.status == 200, f"the admin reads the same: {got}")
    for connection in held:
        connection.close()


def whole_inventories_at_once(lab):
    """Four readers of a full inventory, 225 MB each, of two operators, plain and compressed."""
    server = lab.server
    hosts = [{"id": f"h{n}", "cpu.cores": 4000, "memory.total": "80 TiB"} for n in range(100)]
    server.make_cluster("big", {"name": "big", "hosts": hosts})
    status, part = 200, 0
    while status == 200:
        vms = [
            {"id": f"v{part}-{n}-" + "i" * 200, "host": f"h{n % 100}", "cpu": 1, "memory": 1 << 20, "name": f"n{part}-{n}" + "n" * 3900}
            for n in range(3000)
        ]
        status = server.ask("POST", "/v1/clusters/big/inventory/changes", {"vms": vms}, token="operator", limit=60).status
        part += 1
    lab.check(status == 507 and part > 5, f"the inventory is full after {part} parts: {status}")
    got = []

    def read(number):
        headers = {"Accept-Encoding": "gzip"} if number % 2 else {}
        for _ in range(3):
            token = "operator" if number < 2 else "operator-2"
            answer = server.ask("GET", "/v1/clusters/big/inventory", token=token, limit=90, headers=headers)
            got.append(answer.status)
            lab.check(answer.status != 200 or len(answer.body) > 1 << 20, f"a whole inventory: {len(answer.body)} bytes")

    together(4, read)
    lab.reaches("inventories", got, [200, 429], 4)


def bodies_all_but_a_byte(lab):
    """Two operators of one cluster hold all the room for bodies that they get."""
    server, ends = lab.server, threading.Event()
    size, sent = (64 << 20) - 4096, []
    part = b" " * (1 << 20)

    def hold(token):
        while not ends.is_set():
            try:
                connection = server.socket()
                more = f"Content-Type: application/json\r\nContent-Length: {size}\r\n"
                connection.sendall(head("POST", "/v1/clusters/big/inventory/changes", token, more))
                for _ in range(size // len(part)):
                    connection.sendall(part)
                sent.append(token)
                connection.settimeout(12)
                connection.recv(4096)
            except OSError:
                pass

    server.make_cluster("big")
    threads = [threading.Thread(target=hold, args=(token,), daemon=True) for token in ("operator", "operator-2") * 2]
    for thread in threads:
        thread.start()
    time.sleep(5)
    document = 'name = "{}"\n' + "".join(
        f'[[hosts]]\nid = "h{n}"\ncpu.cores = 40\nmemory.total = "25 GiB"\n' for n in range(2000)
    )
    times, failed = [], 0
    for number in range(8):
        name = f"other-{number}"
        got = server.ask("POST", "/v1/clusters?policy=best-fit", document.format(name), limit=60, kind="application/toml")
        times.append(got.seconds)
        failed += got.status != 201
    ends.set()
    lab.check(len(sent) >= 2, f"{len(sent)} bodies were there but for the last bytes")
    lab.check(failed == 0, f"{failed} of 8 bodies of {len(document) >> 10} KiB of another caller were refused")
    lab.note(f"they took {percentile(times, 0.5):.0f} ms in the middle")
    for thread in threads:
        thread.join(30)


def instances_of_one_policy(lab):
    """A policy with more entries than there are instances: clusters that had not decided yet do."""
    server = lab.server
    entries = "".join(
        f'[[filters]]\nname = "f{n}"\nunit = "cpu"\nsettings = {{ overcommit = {10 + n} }}\n' for n in range(984)
    )
    got = server.ask("PUT", "/v1/policies/greedy", entries, token="author", limit=120,
                     headers={"If-None-Match": "*"}, kind="application/toml")
    lab.check(got.status == 200, f"the policy is put: {got} {got.body[:200]}")
    settings = {"policy": "greedy"}
    got = server.ask("PUT", "/v1/clusters/alpha/settings", settings, token="author", limit=60, headers={"If-Match": "*"})
    lab.check(got.status == 200, f"the policy is attached: {got} {got.body[:200]}")
    decided = []
    for number in range(3):
        vm = {"id": f"v{number}", "cpu": 1, "memory": 1 << 30, "dry-run": True}
        decided.append(server.ask("POST", "/v1/clusters/alpha/place", vm, limit=60).status)
    lab.reaches("placements by it", decided, [200], 1)
    server.make_cluster("gamma")
    vm = {"id": "v", "cpu": 1, "memory": 1 << 30, "dry-run": True}
    failed = sum(server.ask("POST", "/v1/clusters/gamma/place", vm, limit=30).status != 200 for _ in range(30))
    lab.check(failed == 0, f"{failed} of 30 placements in another cluster failed")


ATTACKS = [
    connections_of_two_viewers, failing_calls, checks_at_once, inventories_read_slowly, whole_inventories_at_once,
    bodies_all_but_a_byte, instances_of_one_policy,
]
