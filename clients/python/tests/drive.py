"""Drives a server with both clients; ends well if all comes out as it should."""

import asyncio
import http.server
import json
import sys
import threading

from placewright_client import AsyncClient, Client, Refused, Unreachable, calls

SERVER, TOKEN = sys.argv[1:3]


def with_threads() -> None:
    """The client without asyncio."""
    with Client(SERVER, TOKEN) as client:
        client.call(calls.create_cluster({"name": "c", "hosts": [{"id": "h1", "cpu.cores": 64, "memory.total": "8 GiB"}]}))
        answer = client.answer(calls.get_host("c", "h1"))
        assert answer.etag and answer.body["id"] == "h1"
        client.call(calls.patch_host("c", "h1", {"cpu.cores": 48}, if_match=answer.etag))
        try:
            client.call(calls.patch_host("c", "h1", {"cpu.cores": 32}, if_match=answer.etag))
            raise AssertionError("an old ETag was taken")
        except Refused as refused:
            assert (refused.status, refused.code) == (412, "revision-changed"), refused.body
        key = "the-same"
        vm = calls.place_vm("c", {"id": "v", "cpu": 1, "memory": "1 GiB"}, idempotency_key=key)
        first, again = client.call(vm), client.call(vm)
        for wrong in ("127.0.0.1:7425", "htp://x"):
            try:
                Client(wrong)
                raise AssertionError("that is no address")
            except ValueError as error:
                assert "https://" in str(error), error
        assert first["number"] == again["number"]
        # A character at which `str.splitlines` splits.
        client.call(calls.place_vm("c", {"id": "a\u2028b", "memory": "1 MiB"}))
        kinds = []
        for event in client.events(after=0):
            kinds.append(event["kind"])
            if "a\u2028b" in json.dumps(event, ensure_ascii=False):
                break
        assert kinds[0] == "cluster-created", kinds
        hosts = [host["id"] for host in client.items(calls.list_hosts("c", limit=1))]
        assert hosts == ["h1"]
        for number in range(3):
            client.call(calls.put_vm("c", f"w{number}", {"id": f"w{number}", "host": "h1", "memory": "1 MiB"}))
        vms = [vm["id"] for vm in client.items(calls.list_vms("c", limit=1, pending=False))]
        assert vms == ["w0", "w1", "w2"], vms
        for name, change in client.follow_inventory("c", kind=["vms"]):
            if name == "begin":
                client.call(calls.delete_vm("c", "w0"))
                continue
            assert (name, change.get("gone")) == ("vms", ["w0"]), change
            break


async def with_asyncio() -> None:
    """The client for asyncio."""
    async with AsyncClient(SERVER, TOKEN) as client:
        placed = await asyncio.gather(
            *(client.call(calls.place_vm("c", {"id": f"x{n}", "memory": "1 MiB"})) for n in range(5))
        )
        assert {it["host"] for it in placed} == {"h1"}
        reserved = [it["vm"] async for it in client.items(calls.list_reservations("c", limit=2))]
        assert set(reserved) == {"v", "a\u2028b", "x0", "x1", "x2", "x3", "x4"}, reserved
        async for event in client.events(after=0):
            assert event["kind"] == "cluster-created"
            break
        async for name, change in client.follow_inventory("c", after=1, kind=["vms", "hosts"]):
            assert name in ("reset", "vms", "hosts") and change["version"] > 1
            break
        async with client.events(after=0) as events:
            assert (await anext(events))["kind"] == "cluster-created"
        assert [event async for event in events] == []
        left = client.events(after=0)
        await anext(left)
    # What was left open has ended with the client, so that nothing is said of it as the loop ends.
    assert [event async for event in left] == []


class Busy(http.server.BaseHTTPRequestHandler):
    """A server that asks to wait twice, and then answers."""

    keys: list[str | None] = []

    def do_POST(self) -> None:
        """Answer."""
        self.keys.append(self.headers["Idempotency-Key"])
        self.rfile.read(int(self.headers["Content-Length"]))
        is_busy = len(self.keys) < 3
        body = b"{}" if is_busy else b'{"host": "h1"}'
        self.send_response(503 if is_busy else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if is_busy:
            self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(body)

    do_PATCH = do_POST

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def repeated() -> None:
    """A call with a key is repeated with the same key; one without is made once."""
    server = http.server.HTTPServer(("127.0.0.1", 0), Busy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    with Client(address) as client:
        placed = client.call(calls.place_vm("c", {"id": "v"}))
        assert placed["host"] == "h1"
        assert len(set(Busy.keys)) == 1 and len(Busy.keys) == 3 and Busy.keys[0], Busy.keys
        Busy.keys.clear()
        try:
            client.call(calls.patch_vm("c", "v", {"cpu": 2}))
            raise AssertionError("it asks to wait")
        except Refused as refused:
            assert refused.asks_to_wait and refused.retry_after == 0
        assert len(Busy.keys) == 1
    server.shutdown()
    server.server_close()
    with Client(address, patience=0) as client:
        try:
            client.call(calls.get_health())
            raise AssertionError("nobody is there")
        except Unreachable as unreachable:
            assert address in str(unreachable)
        try:
            next(client.events())
            raise AssertionError("nobody is there")
        except Unreachable as unreachable:
            assert address in str(unreachable)


def refused_before_sending() -> None:
    """A path cannot have these ids: the call would be about something else, as the whole cluster."""
    for id in (".", "..", ""):
        try:
            _ = calls.delete_vm("c", id).path
            raise AssertionError(f"{id!r} was taken")
        except ValueError as error:
            assert repr(id) in str(error)


with_threads()
asyncio.run(with_asyncio())
repeated()
refused_before_sending()
