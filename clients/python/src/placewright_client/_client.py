"""The two clients."""

import asyncio
import json
import ssl
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, cast

import httpx

from . import calls, types
from ._call import Answer, Call, PageCall, StreamCall
from ._errors import PlacewrightError, Refused, Unreachable
from ._patience import Patience

Body = TypeVar("Body")
Item = TypeVar("Item")

Followed = Literal["hosts", "vms", "groups", "tenants"]
"""What an inventory that is followed tells of."""

PAGE = 500
"""Entries of a page that `items` asks for."""


class _Options:
    """What both clients have."""

    def __init__(
        self,
        server: str,
        token: str | None,
        token_file: str | Path | None,
        timeout: float,
        patience: float,
        authority: str | Path | None,
    ) -> None:
        if token_file is not None:
            token = Path(token_file).read_text().strip()
        if not server.startswith(("http://", "https://")):
            raise ValueError(f"{server!r} is no address of a server: write it as in https://placement.example:7425")
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.patience = patience
        self.settings: dict[str, Any] = {
            "base_url": server.rstrip("/"),
            "headers": headers,
            "timeout": timeout,
            "verify": True if authority is None else ssl.create_default_context(cafile=str(authority)),
        }

    @contextmanager
    def reached(self) -> Iterator[None]:
        """Around what is sent and received: raises `Unreachable` where the connection fails."""
        try:
            yield
        except httpx.TransportError as error:
            raise Unreachable(f"cannot ask {self.settings['base_url']}: {error}") from error

    @staticmethod
    def request(call: Call[Any]) -> dict[str, Any]:
        """The arguments of a request."""
        request: dict[str, Any] = {
            "method": call.method,
            "url": call.path,
            "params": call.parameters(),
            "headers": call.sent_headers(),
        }
        if call.json is not None:
            request["json"] = call.json
        elif call.content is not None:
            request["content"] = call.content
        return request

    @staticmethod
    def read(response: httpx.Response) -> Answer[Any]:
        """The answer, if the call was carried out."""
        if not response.is_success:
            raise Refused(response)
        kind = response.headers.get("Content-Type", "").split(";")[0]
        if not response.content:
            body: Any = None
        elif kind == "application/json":
            body = response.json()
        elif kind.startswith("text/") or kind.endswith("-text"):
            body = response.text
        else:
            body = response.content
        return Answer(body, response.status_code, response.headers.get("ETag"))


def _event(lines: list[str]) -> tuple[str, Any] | None:
    """The name and the data of the event in these lines of a stream; None if they are none."""
    data = [line[5:].removeprefix(" ") for line in lines if line.startswith("data:")]
    if not data:
        return None
    names = [line[6:].strip() for line in lines if line.startswith("event:")]
    return (names[-1] if names else "message"), json.loads("\n".join(data))


class _Events:
    """The events of a stream whose bytes come in parts."""

    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[str] = []

    def read(self, part: bytes) -> Iterator[tuple[str, Any]]:
        """The events that end in this part."""
        # No other character ends a line of a stream: texts may have those that `str.splitlines` splits at.
        *lines, self._rest = (self._rest + part).split(b"\n")
        for line in lines:
            text = line.removesuffix(b"\r").decode()
            if text:
                self._lines.append(text)
                continue
            event = _event(self._lines)
            self._lines.clear()
            if event is not None:
                yield event


def _after(number: int | None) -> dict[str, str]:
    return {} if number is None else {"Last-Event-ID": str(number)}


def _page(call: Call[Any], after: object) -> Call[Any]:
    query = {**call.query, "limit": call.query.get("limit") or PAGE, "after": after}
    return Call(call.method, call.way, query=query, headers=call.headers)


class Client:
    """A client of one server. It may be used by several threads."""

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        token_file: str | Path | None = None,
        timeout: float = 600.0,
        patience: float = 10.0,
        authority: str | Path | None = None,
    ) -> None:
        """A client that nothing has been sent with yet.

        `timeout` is how many seconds an answer may take, `patience` for how many seconds a call
        that may be repeated is. `authority` is a file with certificates in PEM.
        """
        self._options = _Options(server, token, token_file, timeout, patience, authority)
        self._http = httpx.Client(**self._options.settings)

    def __enter__(self) -> Self:
        """Use it for a while."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close its connections."""
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def call(self, call: Call[Body]) -> Body:
        """Carry a call out, and return the body of the answer."""
        return self.answer(call).body

    def answer(self, call: Call[Body]) -> Answer[Body]:
        """Carry a call out, and return the answer with its ETag."""
        patience = Patience(self._options.patience)
        while True:
            try:
                with self._options.reached():
                    response = self._http.request(**self._options.request(call))
                return self._options.read(response)
            except PlacewrightError as error:
                wait = patience.after(error) if call.may_be_repeated else None
                if wait is None:
                    raise
                time.sleep(wait)

    def items(self, call: PageCall[Any, Item]) -> Iterator[Item]:
        """The entries of a list, page after page."""
        after: object = call.query.get("after")
        while True:
            page = self.call(_page(call, after))
            yield from page["items"]
            after = page.get("next")
            if after is None:
                return

    def events(self, after: int | None = None) -> Iterator[types.Event]:
        """What happens from now on, or after the event of that number on, until the server ends it."""
        for _, event in self._stream(calls.stream_events(), after):
            yield event

    def follow_inventory(
        self, cluster: str, *, after: int | None = None, kind: Sequence[Followed] | None = None
    ) -> Iterator[tuple[str, types.InventoryEvent]]:
        """What changes in the inventory of a cluster from now on, or after that version on: the name of
        each event (`begin`, `reset`, `hosts`, `vms`, `groups` or `tenants`), and what is in it."""
        call = calls.follow_inventory(cluster, kind=None if kind is None else list(kind))
        for event in self._stream(call, after):
            yield event

    def _stream(self, call: StreamCall[Body], after: int | None) -> Iterator[tuple[str, Body]]:
        request = self._options.request(call)
        request["headers"].update(_after(after))
        request["timeout"] = None
        with self._options.reached(), self._http.stream(**request) as response:
            if not response.is_success:
                response.read()
                raise Refused(response)
            events = _Events()
            for part in response.iter_bytes():
                for event in events.read(part):
                    yield event


class AsyncClient:
    """The same for asyncio."""

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        token_file: str | Path | None = None,
        timeout: float = 600.0,
        patience: float = 10.0,
        authority: str | Path | None = None,
    ) -> None:
        """As for `Client`."""
        self._options = _Options(server, token, token_file, timeout, patience, authority)
        self._http = httpx.AsyncClient(**self._options.settings)
        # Those that are read, which end with the client.
        self._streams: set[Stream[Any]] = set()

    async def __aenter__(self) -> Self:
        """Use it for a while."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close its connections."""
        await self.close()

    async def close(self) -> None:
        """Close its connections, and the streams that are read."""
        for stream in list(self._streams):
            await stream.aclose()
        await self._http.aclose()

    async def call(self, call: Call[Body]) -> Body:
        """Carry a call out, and return the body of the answer."""
        return (await self.answer(call)).body

    async def answer(self, call: Call[Body]) -> Answer[Body]:
        """Carry a call out, and return the answer with its ETag."""
        patience = Patience(self._options.patience)
        while True:
            try:
                with self._options.reached():
                    response = await self._http.request(**self._options.request(call))
                return self._options.read(response)
            except PlacewrightError as error:
                wait = patience.after(error) if call.may_be_repeated else None
                if wait is None:
                    raise
                await asyncio.sleep(wait)

    async def items(self, call: PageCall[Any, Item]) -> AsyncIterator[Item]:
        """The entries of a list, page after page."""
        after: object = call.query.get("after")
        while True:
            page = await self.call(_page(call, after))
            for item in page["items"]:
                yield item
            after = page.get("next")
            if after is None:
                return

    def events(self, after: int | None = None) -> "Stream[types.Event]":
        """What happens from now on, or after the event of that number on, until the server ends it."""
        return self._stream(calls.stream_events(), after, lambda name, event: event)

    def follow_inventory(
        self, cluster: str, *, after: int | None = None, kind: Sequence[Followed] | None = None
    ) -> "Stream[tuple[str, types.InventoryEvent]]":
        """What changes in the inventory of a cluster from now on, or after that version on: the name of
        each event (`begin`, `reset`, `hosts`, `vms`, `groups` or `tenants`), and what is in it."""
        call = calls.follow_inventory(cluster, kind=None if kind is None else list(kind))
        return self._stream(call, after, lambda name, event: (name, event))

    def _stream(
        self, call: StreamCall[Body], after: int | None, of: Callable[[str, Body], Item]
    ) -> "Stream[Item]":
        request = self._options.request(call)
        request["headers"].update(_after(after))
        request["timeout"] = None
        return Stream(self._options, self._http, request, of, self._streams)


class Stream(AsyncIterator[Item]):
    """Events as a server sends them. It ends with the client, or earlier with `aclose`; leaving
    the loop over it does not end it."""

    def __init__(
        self,
        options: _Options,
        client: httpx.AsyncClient,
        request: dict[str, Any],
        of: Callable[[str, Any], Item],
        open_streams: "set[Stream[Any]]",
    ) -> None:
        """Of a request, which is sent when the first event is asked for; `of` an event makes what is told."""
        self._options = options
        self._client = client
        self._request = request
        self._of = of
        self._open = open_streams
        self._read = _Events()
        self._told: deque[tuple[str, Any]] = deque()
        self._response: httpx.Response | None = None
        self._parts: AsyncGenerator[bytes, None] | None = None
        self._has_ended = False
        self._is_waiting = False

    async def __anext__(self) -> Item:
        """The next event."""
        try:
            while not self._told:
                if self._has_ended:
                    raise StopAsyncIteration
                with self._options.reached():
                    parts = self._parts or await self._begin()
                    self._told.extend(self._read.read(await self._next(parts)))
        except BaseException:
            await self.aclose()
            raise
        return self._of(*self._told.popleft())

    async def _begin(self) -> AsyncGenerator[bytes, None]:
        self._open.add(self)
        self._response = await self._client.send(self._client.build_request(**self._request), stream=True)
        if not self._response.is_success:
            await self._response.aread()
            raise Refused(self._response)
        # It is a generator by its code, if not by its type.
        self._parts = cast(AsyncGenerator[bytes, None], self._response.aiter_bytes())
        return self._parts

    async def _next(self, parts: AsyncGenerator[bytes, None]) -> bytes:
        self._is_waiting = True
        try:
            return await anext(parts)
        finally:
            self._is_waiting = False

    async def aclose(self) -> None:
        """Take no more of them, and close the connection."""
        self._has_ended = True
        self._told.clear()
        self._open.discard(self)
        parts, self._parts = self._parts, None
        # Another task that waits for a part closes it as the connection ends.
        if parts is not None and not self._is_waiting:
            await parts.aclose()
        response, self._response = self._response, None
        if response is not None:
            await response.aclose()

    async def __aenter__(self) -> Self:
        """Read it for a while."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.aclose()
