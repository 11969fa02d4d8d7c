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
        self.read = reader(self.reading.plan, self.reading.hosts, self._units)
        self.answers = Answers(verdicts=hasattr(unit, "keep"), costs=hasattr(unit, "cost"))
        self.reasons = list(reasons_of(unit)) if self.answers.verdicts else []
        #: From what `keep` may return to what is sent.
        self.codes: dict[Any, int] = {True: 0, **{reason: reason.number for reason in self.reasons}}
        self.reads_now = self.reading.plan.now() is not None
        self.reads_hosts = self.reading.hosts is not None

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
        units, rows, now = self.read(sent)
        hosts = rows if self.reads_hosts else None
        keeps = want.verdicts and self.answers.verdicts
        prices = want.costs and self.answers.costs
        judgement: Judgement | None = None
        for unit in units:
            one = Judgement(
                self._verdicts(asked(unit.keep, hosts)) if keeps else b"",
                as_costs(asked(unit.cost, hosts)) if prices else [],
                self._until(unit, hosts, now) if self.reads_now else [],
            )
            judgement = one if judgement is None else together(judgement, one)
        if judgement is None:
            entries = 1 if hosts is None else len(hosts)
            return Judgement(bytes(entries) if keeps else b"", [0.0] * entries if prices else [], [])
        if judgement.until and all(it == FOR_GOOD for it in judgement.until):
            judgement.until = []
        return judgement

    def _units(self, rows: list[Any]) -> list[Any]:
        """The author's objects for a request: one, or one for each VM."""
        vms = len(rows[self.reading.vm_use]) if self.reading.per_vm else 1
        return [self.unit(*[argument(rows, vm) for argument in self.reading.arguments]) for vm in range(vms)]

    def _verdicts(self, said: list[Any]) -> bytes:
        try:
            return bytes(map(self.codes.__getitem__, said))
        except (KeyError, TypeError):
            wrong = next(it for it in said if it is not True and not isinstance(it, Reasons))
            hint = "; write: fits or Reason.WHY_NOT" if wrong is False else ""
            raise Failed(f"keep returned {wrong!r}, which is neither True nor one of its reasons{hint}") from None

    def _until(self, unit: Any, hosts: list[Any] | None, now: int) -> list[int]:
        if not hasattr(unit, "until"):
            return [now] * (1 if hosts is None else len(hosts))
        said = asked(unit.until, hosts)
        for it in said:
            if type(it) is not int:
                raise Failed(f"until returned {it!r}, which is no whole number of seconds")
        return [now if it == THIS_SECOND else min(max(-FOR_GOOD, it), FOR_GOOD) for it in said]


def asked(method: Callable[..., Any], hosts: list[Any] | None) -> list[Any]:
    """What a method says of each host, or once if it takes none."""
    return [method()] if hosts is None else [method(host) for host in hosts]


def as_costs(said: list[Any]) -> list[float]:
    """Costs as floats; whole numbers will do."""
    try:
        return [0.0 + cost for cost in said]
    except TypeError:
        wrong = next(it for it in said if not isinstance(it, (int, float)))
        raise Failed(f"cost returned {wrong!r}, which is no number") from None


def together(one: Judgement, other: Judgement) -> Judgement:
    """Of two VMs on one host: the first reason counts, costs are added, and the answer
    holds while both do."""
    return Judgement(
        bytes(first or second for first, second in zip(one.verdicts, other.verdicts)),
        list(map(add, one.costs, other.costs)),
        list(map(min, one.until, other.until)),
    )
