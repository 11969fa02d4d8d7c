"""What is sent, and what comes back."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

Body = TypeVar("Body", covariant=True)
Item = TypeVar("Item", covariant=True)


def new_key() -> str:
    """A key by which a call is carried out once, however often it is sent."""
    return uuid.uuid4().hex


@dataclass(frozen=True)
class Call(Generic[Body]):
    """A call of an operation, whose answer has a body of this type."""

    method: str
    way: Sequence[str | int]
    query: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    json: Any = None
    content: bytes | None = None
    key: str | None = None

    @property
    def path(self) -> str:
        """The path; each part may be any text but ``.`` and ``..``.

        Raises:
            ValueError: A part is one of these. Whatever sends the path takes them for steps in it,
                so that the call would be about something else.
        """
        for part in self.way:
            if part in (".", "..", ""):
                raise ValueError(f"{part!r} cannot be a name or an id: a path cannot have it")
        return "/" + "/".join(quote(str(part), safe="") for part in self.way)

    @property
    def may_be_repeated(self) -> bool:
        """Whether what it does twice, it does as once."""
        return self.method == "GET" or self.key is not None

    def parameters(self) -> list[tuple[str, str]]:
        """The query, of which a parameter with a list is given again and again."""
        pairs: list[tuple[str, str]] = []
        for name, value in self.query.items():
            values = value if isinstance(value, (list, tuple)) else [value]
            pairs += [(name, _word(it)) for it in values if it is not None]
        return pairs

    def sent_headers(self) -> dict[str, str]:
        """The headers that are given, and the key."""
        headers = {name: value for name, value in self.headers.items() if value is not None}
        if self.key is not None:
            headers["Idempotency-Key"] = self.key
        if self.content is not None:
            headers["Content-Type"] = "application/wasm"
        return headers


@dataclass(frozen=True)
class PageCall(Call[Body], Generic[Body, Item]):
    """A call of a list, whose entries are of the type `Item`."""


@dataclass(frozen=True)
class StreamCall(Call[Body], Generic[Body]):
    """A call of a stream, whose entries are of this type."""


@dataclass(frozen=True)
class Answer(Generic[Body]):
    """What the server answers."""

    body: Body
    status: int
    etag: str | None
    """The ETag of what is answered, for `if_match`, if it has one."""


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
