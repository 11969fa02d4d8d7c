"""Attacks by whoever reaches the server's port without a token, and by other users of the machine."""

import http.server
import json
import os
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

from lab import together


def slow_readers(lab):
    """More connections than there are places, each with answers that nobody reads."""
    server, sockets = lab.server, []
    ask = b"GET /v1/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n" * 200
    try:
        for _ in range(1100):
            try:
                connection = server.socket(receive=4096)
                connection.setblocking(False)
                connection.send(ask)
                sockets.append(connection)
            except OSError:
                pass
        # What waits in the kernel is read at once; the others have been cut off.
        lab.check(len(sockets) > 700, f"{len(sockets)} connections have asked")
        time.sleep(45)
        got = server.ask("POST", "/v1/clusters/bystander/place", {"id": "q", "cpu": 1, "memory": 1}, token="bystander")
        lab.check(got.status == 200, f"the holder of a token is served: {got}")
        got = server.ask("GET", "/v1/health", token=None)
        lab.check(got.status == 200, f"health is told: {got}")
    finally:
        for connection in sockets:
            connection.close()


def slow_heads(lab):
    """Heads that arrive a byte a second, on more connections than there are places."""
    server, sockets = lab.server, []
    try:
        for _ in range(1100):
            try:
                connection = server.socket()
                connection.setblocking(False)
                connection.send(b"GET / HT")
                sockets.append(connection)
            except OSError:
                pass
        lab.check(len(sockets) > 700, f"{len(sockets)} connections have begun a head")
        open_ = []
        for _ in range(10):
            alive = 0
            for connection in sockets:
                try:
                    alive += connection.send(b"x")
                except OSError:
                    pass
            open_.append(alive)
            time.sleep(1)
        lab.check(max(open_) > 300, f"{max(open_)} heads went on, {open_[-1]} after 10 s")
        got = server.ask("POST", "/v1/clusters/bystander/place", {"id": "q", "cpu": 1, "memory": 1}, token="bystander")
        lab.check(got.status == 200, f"the holder of a token is served: {got}")
    finally:
        for connection in sockets:
            connection.close()


def bodies_that_never_end(lab):
    """300 bodies of which 1 MB arrives, without a token."""
    server, sockets = lab.server, []
    head = b"POST /v1/clusters/north/why?host=h1 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000000\r\n\r\n"
    before = server.memory()
    try:
        for _ in range(300):
            try:
                connection = server.socket()
                connection.settimeout(0.2)
                connection.sendall(head + b"x" * (1 << 20))
            except OSError:
                pass
            sockets.append(connection)
        refused = 0
        for connection in sockets:
            try:
                refused += connection.recv(4096).startswith((b"HTTP/1.1 401", b"HTTP/1.1 503"))
            except OSError:
                pass
        lab.check(refused > 100, f"{refused} are refused before the body is there")
        grown = server.memory() - before
        lab.check(grown < 200, f"{grown:.0f} MiB more")
    finally:
        for connection in sockets:
            connection.close()


def refusals_in_the_log(lab):
    """20,000 requests with wrong tokens must not fill the disk with lines."""
    server, before, refused = lab.server, lab.server.log.stat().st_size, [0] * 40

    def ask(number):
        connection = server.socket()
        one = b"GET /v1/clusters HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer " + b"x" * 2000 + b"\r\n\r\n"
        try:
            for _ in range(500):
                connection.sendall(one)
                refused[number] += connection.recv(65536).startswith(b"HTTP/1.1 401")
        except OSError:
            pass
        connection.close()

    together(40, ask)
    lab.check(sum(refused) > 19_000, f"{sum(refused)} were refused")
    lines = server.log.stat().st_size - before
    lab.check(lines < 12 << 20, f"{lines >> 10} KiB of log for 20,000 refusals")
    got = server.ask("GET", "/v1/clusters")
    lab.check(got.status == 200, f"the administrator is served: {got}")


def refusals_of_many_addresses(lab):
    """Wrong tokens from 1,024 addresses for 25 s: the audit log counts all of them and does not fill."""
    server, ends = lab.server, time.monotonic() + 25
    one = b"GET /v1/clusters HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer x\r\n\r\n"
    refused, made = [0] * 8, []

    def ask(worker):
        number = worker
        while time.monotonic() < ends:
            number = (number + len(refused)) % 1024
            try:
                with socket.socket() as connection:
                    connection.settimeout(5)
                    connection.bind((f"127.1.{number >> 8}.{1 + number % 255}", 0))
                    connection.connect(("127.0.0.1", server.port))
                    for _ in range(20):
                        connection.sendall(one)
                        refused[worker] += connection.recv(65536).startswith(b"HTTP/1.1 401")
            except OSError:
                pass

    def change(_):
        while time.monotonic() < ends:
            got = server.ask("POST", "/v1/policies/worst-fit/clone", {"name": f"p{len(made)}"}, limit=20)
            made.append(got.status)
            time.sleep(0.5)

    together(len(refused) + 1, lambda n: ask(n) if n < len(refused) else change(n))
    lab.check(lab.stop(60) is not None, "the server ends, and with it the last window of the log")
    records = [json.loads(line) for line in (server.data / "audit.jsonl").read_text().splitlines()]
    of_refusals = [record for record in records if record.get("kind") == "refusal"]
    size = sum(len(json.dumps(record)) for record in of_refusals)
    # 100 in ten seconds, and one that counts the rest.
    lab.check(len(of_refusals) <= 600, f"{len(of_refusals)} records of {sum(refused)} refusals")
    lab.check(size < 512 << 10, f"they take {size >> 10} KiB")
    counted = len(of_refusals) + sum(record.get("left-out", 0) for record in records)
    lab.check(counted >= sum(refused) > 1024, f"{counted} of {sum(refused)} refusals are counted")
    told = sum(record.get("status") == 201 and record.get("path", "").endswith("/clone") for record in records)
    lab.check(made.count(201) == len(made) == told, f"{made.count(201)} of {len(made)} changes were made, {told} have records")


class RefusingProvider(http.server.BaseHTTPRequestHandler):
    """A provider of sign-ins that knows no code."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        issuer = f"http://127.0.0.1:{self.server.server_port}"
        status, told = 200, {"keys": []}
        if self.path.endswith("openid-configuration"):
            told = {"issuer": issuer, "jwks_uri": f"{issuer}/keys", "authorization_endpoint": f"{issuer}/authorize",
                    "token_endpoint": f"{issuer}/token"}
        elif self.path == "/token":
            status, told = 400, {"error": "invalid_grant"}
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET


def codes_that_are_none(lab):
    """Codes of sign-ins that the provider refuses, from four addresses without end: others begin to sign in, and each
    of them is counted in the audit log by its address."""
    server, ends, status = lab.server, threading.Event(), []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), RefusingProvider) as provider:
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        server.stop(30)
        server.configure(more=f'openid-issuer = "http://127.0.0.1:{provider.server_port}"\nopenid-client = "placewright"\n'
                              'public-url = "http://127.0.0.1:7777"\n'
                              '[[openid-roles]]\ngroup = "ops"\nrole = "operator"\nclusters = ["alpha"]\n')
        lab.check(server.start(), "it starts")
        began = server.ask("GET", "/sign-in/openid", token=None, limit=20)
        cookie = next((value.split(";")[0] for name, value in began.headers.items() if name.lower() == "set-cookie"), "")
        place = next((value for name, value in began.headers.items() if name.lower() == "location"), "")
        state = urllib.parse.parse_qs(urllib.parse.urlparse(place).query).get("state", [""])[0]
        lab.check(began.status == 303 and cookie and state, f"a sign-in is begun: {began}")
        one = (f"GET /sign-in/openid/back?code=bogus&state={state} HTTP/1.1\r\nHost: localhost\r\n"
               f"Cookie: {cookie}\r\nConnection: close\r\n\r\n").encode()

        def flood(number):
            while not ends.is_set():
                try:
                    with socket.socket() as connection:
                        connection.settimeout(15)
                        connection.bind((f"127.2.0.{1 + number % 4}", 0))
                        connection.connect(("127.0.0.1", server.port))
                        connection.sendall(one)
                        status.append(int(connection.recv(64)[9:12]))
                except (OSError, ValueError):
                    pass

        threads = [threading.Thread(target=flood, args=(number,), daemon=True) for number in range(8)]
        for thread in threads:
            thread.start()
        others = []
        for _ in range(30):
            others.append(server.ask("GET", "/sign-in/openid", token=None, limit=20).status)
            time.sleep(0.2)
        ends.set()
        for thread in threads:
            thread.join(20)
        lab.reaches("codes", status, [401], 100)
        lab.check(others.count(303) == 30, f"{others.count(303)} of 30 others began to sign in")
        lab.check(lab.stop(60) is not None, "the server ends, and with it the last window of the log")
    records = [json.loads(line) for line in (server.data / "audit.jsonl").read_text().splitlines()]
    own = sum(record.get("kind") == "refusal" and record.get("path", "").endswith("/back") for record in records)
    left_out = [record for record in records if record.get("left-out")]
    counted = own + sum(record["left-out"] for record in left_out)
    lab.check(counted >= len(status), f"{counted} of {len(status)} codes are counted, {own} with a record of their own")
    named = all(f"127.2.0.{number}" in str(records) for number in (1, 2, 3, 4))
    lab.check(named, f"by the addresses: {left_out[0].get('message', '') if left_out else ''}")


def heads_that_are_none(lab):
    """Bytes that are no HTTP, long lines, many headers, wrong lengths."""
    heads = [
        b"\x16\x03\x01" + bytes(200), b"GET " + b"a" * (1 << 20), b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 50_000,
        b"GET / HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        b"GET /%00%ff/../..//v1/clusters HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"GET /v1/clusters HTTP/1.1\r\nhost: evil.example\r\norigin: http://evil.example\r\n\r\n",
    ]
    answers = 0
    for head in heads:
        for _ in range(20):
            try:
                connection = lab.server.socket()
                connection.sendall(head)
                connection.settimeout(2)
                got = connection.recv(64)
                answers += got.startswith(b"HTTP/1.1 4")
                lab.check(not got.startswith(b"HTTP/1.1 2") and b" 500 " not in got, f"{head[:40]}: {got[:20]}", quiet=True)
            except OSError:
                pass
            connection.close()
    lab.check(answers >= 100, f"{answers} of {20 * len(heads)} are answered")
    lab.check(lab.server.ask("GET", "/v1/clusters").status == 200, "the administrator is served")


def folder_of_another_user(lab):
    """A data folder that others may write to must be refused."""
    server = lab.server
    if os.geteuid() != 0:
        lab.note("not tried: it takes root to make a folder of another user")
        return
    with tempfile.TemporaryDirectory(prefix="placewright-lab-") as base:
        os.chmod(base, 0o755)
        victim = Path(base) / "victim"
        victim.write_text("precious\n")
        data = Path(base) / "data"
        data.mkdir()
        (data / "placewright.lock").symlink_to(victim)
        os.chmod(data, 0o777)
        os.chown(data, 65534, 65534)
        command = [server.program, "serve", "--listen", "127.0.0.1:0", "--data", data, "--cache", server.cache]
        try:
            ended = subprocess.run([str(word) for word in command], timeout=15, capture_output=True)
            lab.check(ended.returncode != 0, f"refused: {ended.stderr[-160:].decode(errors='replace').strip()}")
        except subprocess.TimeoutExpired:
            lab.check(False, "it serves from a folder that anybody may write to")
        lab.check(victim.read_text() == "precious\n", "a file behind a link is left as it is")


def example_secrets(lab):
    """The example of a configuration has no secret that everybody knows."""
    server = lab.server
    example = (lab.repository / "host/examples/placewright.toml").read_text()
    # What it shows with a # before each line is put in force, as somebody in a hurry would.
    lines = [line[2:] if line.startswith(('# [[', '# name', '# role', '# sha256', '# clusters')) else line for line in example.splitlines()]
    begin = next((n for n, line in enumerate(lines) if line.startswith("[[tokens]]")), None)
    if begin is None:
        lab.note("the example has no tokens")
        return
    end = next((n for n, line in enumerate(lines) if n > begin and "trusted-keys" in line), len(lines))
    server.stop(30)
    server.config.write_text("\n".join(line for line in lines[begin:end] if not line.startswith("#")) + "\n")
    if not server.start(wait=20):
        lab.check(True, "it does not start with the example's tokens")
        return
    for known in ("test", "test2", "secret", "admin"):
        got = server.ask("GET", "/v1/clusters", token=None, headers={"Authorization": f"Bearer {known}"})
        lab.check(got.status in (401, 403), f"Bearer {known}: {got}")


ATTACKS = [
    slow_readers, slow_heads, bodies_that_never_end, refusals_in_the_log, refusals_of_many_addresses,
    codes_that_are_none, heads_that_are_none, folder_of_another_user, example_secrets,
]
