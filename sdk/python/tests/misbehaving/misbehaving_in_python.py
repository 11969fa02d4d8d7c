"""A unit for tests: goes wrong in every way that is special to Python."""

import random
import time

from placewright import Bytes, Failed, Reasons, Refused, Row, RowWise, Settings, column, setting


class Host(Row):
    total: Bytes = column("memory.total")


class How(Settings):
    how: str = setting(default="well", meaning="In what way it goes wrong.")


class Reason(Reasons):
    SMALL = "is small"


class Misbehaving(RowWise):
    def __init__(self, settings: How) -> None:
        self.how = settings.how
        if self.how == "refuses":
            raise Refused("is not in the mood")

    def keep(self, host: Host) -> bool | Reason:
        match self.how:
            case "raises":
                return divide(host.total, 0) > 1
            case "fails":
                raise Failed("cannot go on")
            case "forgets to answer":
                return None  # type: ignore[return-value]
            case "asks the clock":
                return time.time() > 0
            case "draws":
                return random.random() < 2
            case "reads a file":
                return open("/etc/passwd").readable()
            case "exits":
                raise SystemExit(1)
            case "recurses":
                return self.keep_on(host)
            case "prints":
                print("said in passing")
            case "takes memory":
                return len([0] * (1 << 27)) > 0
            case "hangs":
                while True:
                    pass
        return host.total > 0 or Reason.SMALL

    def keep_on(self, host: Host) -> bool | Reason:
        return self.keep_on(host)


def divide(one: int, other: int) -> float:
    return one / other
