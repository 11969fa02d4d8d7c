"""The imports of a component, read from its binary form."""

from __future__ import annotations

_MAGIC = b"\0asm\x0d\0\x01\0"
_IMPORTS = 10


class Unreadable(ValueError):
    """The bytes are no component."""


def imports(component: bytes) -> list[str]:
    """The names that a component imports, those inside nested components left out."""
    if component[:8] != _MAGIC:
        raise Unreadable("it does not begin as a component does")
    names: list[str] = []
    reader = _Reader(component, 8)
    while reader.position < len(component):
        section, size = reader.byte(), reader.number()
        end = reader.position + size
        if section == _IMPORTS:
            names.extend(reader.imported() for _ in range(reader.number()))
        reader.position = end
    return names


class _Reader:
    """Reads numbers and names one after the other."""

    def __init__(self, data: bytes, position: int) -> None:
        self.data = data
        self.position = position

    def byte(self) -> int:
        if self.position >= len(self.data):
            raise Unreadable("it is cut off")
        self.position += 1
        return self.data[self.position - 1]

    def number(self) -> int:
        """An unsigned number in LEB128."""
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    def imported(self) -> str:
        """An import: its name, and then what it is, which is passed over."""
        self.byte()
        size = self.number()
        name = self.data[self.position : self.position + size].decode()
        self.position += size
        kind = self.byte()
        if kind == 0x00:
            # A core module: its kind comes first.
            self.byte()
        if kind in (0x02, 0x03) and self.byte() != 0x00:
            # A type without a bound (or a value) has no index.
            return name
        self.number()
        return name
