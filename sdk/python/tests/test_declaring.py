"""What authors write, and what is made of it or said of it."""

import unittest

from placewright import (
    PASSING,
    Bytes,
    DeclarationError,
    Reasons,
    Request,
    Row,
    Rows,
    RowWise,
    Settings,
    column,
    setting,
    table,
)
from placewright.amounts import BYTES, MILLICORES
from placewright.contract import Kind
from placewright.unit import Identity, Unit

IDENTITY = Identity("sample", "0.1.0", "A sample.")


class Disk(Row):
    size: Bytes


class Host(Row):
    free: Bytes = column("memory.free")
    usage: float | None = column("cpu.usage", default=None)
    disks: Rows[Disk] = table("disks", default=())
    first: Disk | None = table("disks", default=None)


class Vm(Row):
    memory: Bytes
    huge_pages: bool | None = column("huge-pages", gate=True, default=None)


class Limits(Settings):
    headroom: Bytes = setting(default="1 GiB", least=0, meaning="Memory kept free.")
    full_at: float = setting(default=1, meaning="When a host is full.")
    tag: str | None = setting(meaning="Which VMs.")


class Reason(Reasons):
    A = "is a"
    B = "is b", PASSING


class Sample(RowWise):
    def __init__(self, vm: Vm, limits: Limits) -> None:
        self.need = vm.memory + limits.headroom

    def keep(self, host: Host) -> bool | Reason:
        return host.free >= self.need or Reason.A


class RowsOf(unittest.TestCase):
    def test_a_row_is_made_by_name_and_what_may_be_absent_is_left_out(self) -> None:
        host = Host(free=5)
        self.assertEqual((host.free, host.usage, host.disks, host.first), (5, None, (), None))
        self.assertEqual(repr(Disk(size=3)), "Disk(size=3)")
        with self.assertRaisesRegex(TypeError, "Host needs a value for free"):
            Host()
        with self.assertRaisesRegex(TypeError, "no field other"):
            Host(free=1, other=2)  # type: ignore[call-arg]

    def test_a_row_cannot_be_changed(self) -> None:
        with self.assertRaises(AttributeError):
            Host(free=5).free = 6  # type: ignore[misc]

    def test_a_field_of_another_type_is_refused_with_those_that_there_are(self) -> None:
        with self.assertRaisesRegex(DeclarationError, "Wrong.tags: a field is int, float.*not list"):

            class Wrong(Row):
                tags: list


class Amounts(unittest.TestCase):
    def test_amounts_are_written_with_units(self) -> None:
        self.assertEqual([BYTES.parse("1.5 GiB"), MILLICORES.parse("2"), MILLICORES.parse("500m")], [3 << 29, 2000, 500])
        for wrong in ("1 gib", "0.3 B", "many", ""):
            with self.assertRaisesRegex(ValueError, "no whole number of bytes"):
                BYTES.parse(wrong)


class SettingsOf(unittest.TestCase):
    def test_settings_of_an_admin_who_sets_nothing_are_the_defaults(self) -> None:
        self.assertEqual(Limits(), (1 << 30, 1.0, None))

    def test_settings_are_described_with_kind_measure_and_default(self) -> None:
        headroom, full_at, tag = Unit(Sample, IDENTITY).describe().settings
        self.assertEqual((headroom.measure, headroom.default, headroom.least), ("bytes", 1 << 30, 0.0))
        self.assertEqual((full_at.kind, full_at.default), (Kind.NUMBER, 1.0))
        self.assertEqual((tag.kind, tag.default, tag.required), (Kind.TEXT, None, False))

    def test_a_default_that_does_not_fit_is_refused_where_it_is_written(self) -> None:
        for wrong, why in [("much", "no whole number of bytes"), (1 << 53, "below 2\\^53"), (1.5, "1.5 is no int")]:
            with self.assertRaisesRegex(DeclarationError, f"Wrong.headroom: .*{why}"):
                type("Wrong", (Settings,), {"__annotations__": {"headroom": Bytes}, "headroom": setting(default=wrong, meaning="m")})


class Reading(unittest.TestCase):
    def test_a_part_reads_what_its_annotations_say(self) -> None:
        judge = Unit(Sample, IDENTITY).describe().judge
        reads = [
            (read.table, [(it.column, it.kind, it.required, it.gate) for it in read.columns]) for read in judge.reads
        ]
        self.assertEqual(
            reads,
            [
                ("members", [("memory", Kind.INTEGER, True, False), ("huge-pages", Kind.BOOLEAN, False, True)]),
                ("hosts", [("memory.free", Kind.INTEGER, True, False), ("cpu.usage", Kind.NUMBER, False, False)]),
                ("hosts/disks", [("size", Kind.INTEGER, True, False)]),
                (
                    "settings",
                    [
                        ("headroom", Kind.INTEGER, True, False),
                        ("full-at", Kind.NUMBER, True, False),
                        ("tag", Kind.TEXT, False, False),
                    ],
                ),
            ],
        )
        self.assertEqual((judge.answers.verdicts, judge.answers.costs), (True, False))
        self.assertEqual(judge.reasons, [("is a", False), ("is b", True)])

    def test_what_is_missing_in_a_class_is_told(self) -> None:
        class Empty(RowWise):
            pass

        class NoReasons(RowWise):
            def keep(self, host: Host) -> bool:
                return True

        class NoAnnotation(RowWise):
            def __init__(self, vm) -> None:  # type: ignore[no-untyped-def]
                pass

            def cost(self, host: Host) -> float:
                return 0.0

        class TwoHosts(RowWise):
            def keep(self, host: Host) -> bool | Reason:
                return True

            def cost(self, host: Vm) -> float:
                return 0.0

        class NoTable(RowWise):
            def __init__(self, count: int) -> None:
                pass

            def cost(self, host: Host) -> float:
                return 0.0

        class WrongRequest(Request):
            memory: Bytes

        class NoRequest(RowWise):
            def __init__(self, request: WrongRequest) -> None:
                pass

            def cost(self, host: Host) -> float:
                return 0.0

        for unit, why in [
            (Empty, "neither keep nor cost"),
            (NoReasons, "annotated with its reasons"),
            (NoAnnotation, "vm must be annotated"),
            (TwoHosts, "the same host"),
            (NoTable, "count must be annotated with a Row .* not int"),
            (NoRequest, "WrongRequest.memory is no table"),
        ]:
            with self.assertRaisesRegex(DeclarationError, why):
                Unit(unit, IDENTITY)


if __name__ == "__main__":
    unittest.main()
