"""Why hosts are removed."""

from enum import Enum

#: Marks a reason that may go away without anything being changed, because it counts
#: what is pending: `RESERVED = "has too little left while places are reserved", PASSING`.
PASSING = True

#: A verdict is sent in one byte, and 0 keeps.
MOST = 255


class Reasons(Enum):
    """The reasons of a unit, at most 255::

        class Reason(Reasons):
            TOO_LITTLE_MEMORY = "has too little free memory"
            RESERVED = "has too little memory while places are reserved", PASSING

    The text completes the sentence "host h1 ...". A reason is false, since it
    removes: `fits or Reason.A` keeps or tells why not, and verdicts are joined by
    `and`, of which the first that removes counts.
    """

    #: As verdicts name it, counted from 1.
    number: int
    #: Whether waiting for what is pending may help.
    passing: bool

    def __new__(cls, text: str, passing: bool = False) -> "Reasons":
        if not isinstance(text, str):
            raise TypeError(f"a reason of {cls.__name__} is a text that completes the sentence 'host h1 ...'")
        if len(cls.__members__) >= MOST:
            raise TypeError(f"{cls.__name__} has more than {MOST} reasons")
        reason = object.__new__(cls)
        reason._value_ = text
        reason.number = len(cls.__members__) + 1
        reason.passing = passing
        return reason

    def __bool__(self) -> bool:
        return False

    # Members are one object each: quicker than by name.
    __hash__ = object.__hash__
