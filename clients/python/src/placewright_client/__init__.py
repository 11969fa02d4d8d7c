"""A typed client for a Placewright server, with and without asyncio."""

from . import calls, types
from ._call import Answer, Call, PageCall, StreamCall
from ._client import AsyncClient, Client, Stream
from ._errors import PlacewrightError, Refused, Unreachable

__all__ = [
    "Answer",
    "AsyncClient",
    "Call",
    "Client",
    "PageCall",
    "PlacewrightError",
    "Refused",
    "Stream",
    "StreamCall",
    "Unreachable",
    "calls",
    "types",
]
