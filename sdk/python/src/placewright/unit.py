"""A unit called as plain Python, by the same code as in a component."""

from __future__ import annotations

from dataclasses import dataclass

from placewright import settings as describing
from placewright.call import Reader, Sent, reader
from placewright.contract import Answers, Description, Judgement
from placewright.judge import Judge
from placewright.reads import Plan
from placewright.row_wise import RowWise
from placewright.settings import Settings


@dataclass(frozen=True)
class Identity:
    """Who a unit is: from its `pyproject.toml`."""

    #: Lower-case words joined by hyphens.
    name: str
    #: Semantic version.
    version: str
    #: One sentence for the admin.
    summary: str
    #: Names or ids of the same rule in other systems.
    aliases: tuple[str, ...] = ()


class Unit:
    """The exports of a unit.

    Raises `DeclarationError` if the class is not a unit.
    """

    def __init__(self, unit: type[RowWise], identity: Identity) -> None:
        self.identity = identity
        self._judge = Judge(unit)
        self._settings = self._judge.reading.settings
        self._check = checking(self._settings)

    @property
    def checks_settings(self) -> bool:
        """Does the unit have rules between settings?"""
        return self._check is not None

    def describe(self) -> Description:
        """Says what the unit is."""
        return Description(
            name=self.identity.name,
            version=self.identity.version,
            summary=self.identity.summary,
            aliases=list(self.identity.aliases),
            settings=describing.described(self._settings) if self._settings else [],
            judge=self._judge.described(),
        )

    def judge(self, want: Answers, call: Sent) -> Judgement:
        """Filters, prices, or both. Raises `Refused`, and `Failed` if the call or an
        answer has not the declared shape, and whatever the author's code raises."""
        return self._judge.judge(want, call)

    def check(self, settings: Sent) -> None:
        """Accepts the settings, or raises `Refused` with a sentence for the admin."""
        if self._check is not None:
            [settings_row], _, _ = self._check(settings)
            settings_row.check()


def checking(settings: type[Settings] | None) -> Reader | None:
    """How settings are read to be checked, if they are."""
    if settings is None or settings.check is Settings.check:
        return None
    plan = Plan()
    use = plan.use(settings, "settings")
    return reader(plan, None, lambda rows: rows[use])
