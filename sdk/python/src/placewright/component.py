"""The way from the exports of a component to a unit. Not for use by hand: the module
that `placewright.building` writes imports it, and nothing else does.

All of this runs once while the component is built; what it makes is kept in it.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

# Made by componentize-py from the contract, in a component only.
from componentize_py_types import Err  # type: ignore[import-not-found]
from wit_world.exports import unit as exported  # type: ignore[import-not-found]
from wit_world.imports import log as imported  # type: ignore[import-not-found]
from wit_world.imports import types

from placewright import contract, fault, log, sealing
from placewright.problem import Failed, Refused
from placewright.row_wise import RowWise
from placewright.unit import Identity, Unit

# Before the author's module is imported.
sealing.prepare()


def exports(unit: type[RowWise], identity: Identity) -> tuple[type, type, type]:
    """The classes `Unit`, `Judge` and `Settings` that componentize-py looks for."""
    made = Unit(unit, identity)
    description = described(made.describe())

    class UnitExport:
        def describe(self) -> Any:
            return description

    class JudgeExport:
        def judge(self, want: Any, call: Any) -> Any:
            try:
                judgement = made.judge(want, call)
            except BaseException as error:
                problem = as_problem(error)
            else:
                return types.Judgement(judgement.verdicts, judgement.costs, judgement.until)
            raise Err(problem)

    class SettingsExport:
        def check(self, settings: Any) -> None:
            try:
                return made.check(settings)
            except BaseException as error:
                sentence = as_problem(error).value
            raise Err(sentence)

    seal()
    return UnitExport, JudgeExport, SettingsExport


def as_problem(error: BaseException) -> Any:
    """What the runtime is told of an exception. Whatever is not caught here would trap
    without a word."""
    if isinstance(error, Refused):
        return types.Problem_Refused(str(error))
    if isinstance(error, Failed):
        return types.Problem_Failed(str(error))
    return types.Problem_Failed(fault.sentence(error))


def seal() -> None:
    """Makes the interpreter ready to be kept: what is printed goes to the log, what a unit
    has not refuses, and all that is there by now is left out of garbage collection."""
    fault.remember_sources()
    levels = {"error": imported.Level.ERROR, "warn": imported.Level.WARN, "info": imported.Level.INFO}
    log.say = lambda level, message: imported.log(levels.get(level, imported.Level.DEBUG), message)
    sys.stdout, sys.stderr = log.Lines("info"), log.Lines("warn")
    sealing.seal()
    gc.collect()
    gc.freeze()


def described(description: contract.Description) -> Any:
    """The description in the classes of the bindings."""
    judge = description.judge
    part = exported.JudgePart(
        answers=types.Answers(judge.answers.verdicts, judge.answers.costs),
        evaluation=exported.Evaluation.ROW_WISE,
        reads=[table(read) for read in judge.reads],
        reasons=[exported.Reason(text, passing) for text, passing in judge.reasons],
        cost_range=judge.cost_range,
    )
    return exported.Description(
        name=description.name,
        version=description.version,
        summary=description.summary,
        aliases=description.aliases,
        settings=[setting(it) for it in description.settings],
        judge=part,
        selection=None,
        effects=None,
        balance=None,
        order=None,
        explain=None,
    )


def kind(of: contract.Kind) -> Any:
    """A kind in the bindings' enumeration."""
    return types.Kind(of.value)


def table(read: contract.TableRead) -> Any:
    """A table that is read."""
    columns = [exported.ColumnRead(it.column, kind(it.kind), it.required, it.gate) for it in read.columns]
    return exported.TableRead(read.table, columns)


def setting(it: contract.Setting) -> Any:
    """A setting."""
    columns = [exported.SettingColumn(of.name, kind(of.kind), of.required, of.meaning) for of in it.columns]
    return exported.Setting(
        name=it.name,
        kind=kind(it.kind),
        measure=it.measure,
        default=value(it.default),
        required=it.required,
        least=it.least,
        greatest=it.greatest,
        pattern=it.pattern,
        choices=it.choices,
        meaning=it.meaning,
        columns=columns,
    )


def value(of: contract.Value | None) -> Any:
    """A single value."""
    match of:
        case None:
            return None
        case bool():
            return types.Value_Boolean(of)
        case int():
            return types.Value_Integer(of)
        case float():
            return types.Value_Number(of)
        case str():
            return types.Value_Text(of)
