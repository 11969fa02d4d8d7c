"""How a row-wise unit is asked."""

from __future__ import annotations

from collections.abc import Callable
from operator import add
from typing import Any

from placewright.call import Sent, reader
from placewright.contract import Answers, JudgePart, Judgement
from placewright.problem import Failed
from placewright.reading import Reading, reasons_of
from placewright.reason import Reasons
from placewright.row_wise import FOR_GOOD, THIS_SECOND, RowWise


class Judge:
    """The judge part of a unit: what its class declares, ready to be asked.

    Raises `DeclarationError` if the class is not a unit.
    """

    def __init__(self, unit: type[RowWise]) -> None:
        self.unit = unit
        self.reading = Reading(unit)
        self.read = reader(self.reading.plan)
        self.answers = Answers(verdicts=hasattr(unit, "keep"), costs=hasattr(unit, "cost"))
        self.reasons = list(reasons_of(unit)) if self.answers.verdicts else []
        #: From what `keep` may return to what is sent.
        self.codes: dict[Any, int] = {True: 0, **{reason: reason.number for reason in self.reasons}}
        self.members = self.reading.plan.table("members") if self.reading.per_vm else None
        self.reads_now = self.reading.plan.now() is not None

    def described(self) -> JudgePart:
        """The part as it is described to the runtime."""
        bounds = self.unit.cost_range
        return JudgePart(
            self.answers,
            self.reading.plan.tables,
            [(reason.value, reason.passing) for reason in self.reasons],
            None if bounds is None else (float(bounds[0]), float(bounds[1])),
        )

    def judge(self, want: Answers, sent: Sent) -> Judgement:
        """Answers a call.

        Raises what the author's code raises, and `Failed` if the call or an answer has
        not the declared shape.
        """
        rows, now = self.read(sent)
        hosts = None if self.reading.hosts is None else rows[self.reading.hosts]
        entries = 1 if hosts is None else len(hosts)
        keeps = want.verdicts and self.answers.verdicts
        prices = want.costs and self.answers.costs
        verdicts = bytes(entries) if keeps else b""
        costs = [0.0] * entries if prices else []
        until = [FOR_GOOD] * entries if self.reads_now else []
        for vm in range(1 if self.members is None else sent.rows[self.members]):
            unit: Any = self.unit(*[argument(rows, vm) for argument in self.reading.arguments])
            if keeps:
                verdicts = first_reasons(verdicts, self._verdicts(asked(unit.keep, hosts)))
            if prices:
                costs = list(map(add, costs, as_costs(asked(unit.cost, hosts))))
            if self.reads_now:
                said = asked(unit.until, hosts) if hasattr(unit, "until") else [now] * entries
                until = list(map(min, until, as_times(said, now)))
        return Judgement(verdicts, costs, until if any(it != FOR_GOOD for it in until) else [])

    def _verdicts(self, said: list[Any]) -> bytes:
        try:
            return bytes(map(self.codes.__getitem__, said))
        except (KeyError, TypeError):
            wrong = next(it for it in said if it is not True and not isinstance(it, Reasons))
            hint = "; write: fits or Reason.WHY_NOT" if wrong is False else ""
            raise Failed(f"keep returned {wrong!r}, which is neither True nor one of its reasons{hint}") from None


def asked(method: Callable[..., Any], hosts: list[Any] | None) -> list[Any]:
    """What a method says of each host, or once if it takes none."""
    return [method()] if hosts is None else list(map(method, hosts))


def first_reasons(known: bytes, verdicts: bytes) -> bytes:
    """The first VM for which a host is removed tells why."""
    return bytes(one or other for one, other in zip(known, verdicts)) if any(known) else verdicts


def as_costs(said: list[Any]) -> list[float]:
    """Costs as floats; whole numbers will do."""
    try:
        return [0.0 + cost for cost in said]
    except TypeError:
        wrong = next(it for it in said if not isinstance(it, (int, float)))
        raise Failed(f"cost returned {wrong!r}, which is no number") from None


def as_times(said: list[Any], now: int) -> list[int]:
    """Seconds until which answers hold."""
    for it in said:
        if type(it) is not int:
            raise Failed(f"until returned {it!r}, which is no whole number of seconds")
    return [now if it == THIS_SECOND else max(-FOR_GOOD, it) for it in said]
