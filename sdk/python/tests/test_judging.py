"""What becomes of a call."""

import math
import unittest

from placewright import FOR_GOOD, Bytes, Failed, Reasons, Refused, Request, Row, Rows, RowWise, Seconds, Settings, column, setting, table
from placewright.contract import Answers, Judgement, Tables
from placewright.unit import Identity, Unit

BOTH = Answers(verdicts=True, costs=True)


def unit(author: type[RowWise]) -> Unit:
    return Unit(author, Identity("sample", "0.1.0", "A sample."))


class Vm(Row):
    memory: Bytes


class Network(Row):
    name: str


class Host(Row):
    free: Bytes = column("memory.free")
    usage: float | None = column("cpu.usage", default=None)
    networks: Rows[Network] = table("networks", default=())


class Reason(Reasons):
    FULL = "is full"
    NO_RED = "has no network red"


class Memory(RowWise):
    def __init__(self, vm: Vm) -> None:
        self.need = vm.memory

    def keep(self, host: Host) -> bool | Reason:
        red = any(network.name == "red" for network in host.networks)
        return (host.free >= self.need or Reason.FULL) and (red or Reason.NO_RED)

    def cost(self, host: Host) -> float:
        return math.inf if host.usage is None else host.usage + self.need


def contract_example(members: list[int]) -> Tables:
    """The example in the contract's documentation, with these VMs."""
    return Tables(
        rows=[len(members), 2, 3],
        integers=[*members, 8, 1, 0, 2, 3, 0, 1, 1],
        numbers=[0.25, 0.0],
        absent_numbers=[1],
        texts=["red", "blue"],
    )


class Judging(unittest.TestCase):
    def test_rows_are_read_with_nested_tables_texts_and_absent_values(self) -> None:
        judgement = unit(Memory).judge(BOTH, contract_example([4]))
        self.assertEqual(judgement, Judgement(b"\0\1", [4.25, math.inf], []))

    def test_only_what_is_wanted_is_answered(self) -> None:
        memory = unit(Memory)
        self.assertEqual(memory.judge(Answers(True, False), contract_example([1])), Judgement(b"\0\2", [], []))
        self.assertEqual(memory.judge(Answers(False, True), contract_example([1])), Judgement(b"", [1.25, math.inf], []))

    def test_with_several_vms_the_first_reason_counts_and_costs_are_added(self) -> None:
        judgement = unit(Memory).judge(BOTH, contract_example([1, 4]))
        self.assertEqual(judgement, Judgement(b"\0\2", [5.5, math.inf], []))
        self.assertEqual(unit(Memory).judge(BOTH, contract_example([])), Judgement(b"\0\0", [0.0, 0.0], []))

    def test_a_call_for_another_part_fails(self) -> None:
        for wrong, why in [
            (Tables([1]), "holds 1 tables where the part declared 3"),
            (Tables([0, 0, 0], [0, 0]), "holds 2 integers where the part declared 1"),
            (Tables([0, 0, 0], [0], [0.5]), "holds 1 numbers where the part declared 0"),
        ]:
            with self.assertRaisesRegex(Failed, why):
                unit(Memory).judge(BOTH, wrong)

    def test_an_answer_that_only_looks_like_one_fails(self) -> None:
        class Plain(Row):
            free: int

        for answer, why in [
            (None, "keep returned None"),
            (False, "keep returned False, .* write: fits or Reason"),
            ([], "keep returned \\[\\]"),
        ]:

            class Wrong(RowWise):
                said = answer

                def keep(self, host: Plain) -> bool | Reason:
                    return self.said  # type: ignore[return-value]

            with self.assertRaisesRegex(Failed, why):
                unit(Wrong).judge(BOTH, Tables([1], [1]))

        class NoCost(RowWise):
            def cost(self, host: Plain) -> float:
                return None  # type: ignore[return-value]

        with self.assertRaisesRegex(Failed, "cost returned None"):
            unit(NoCost).judge(BOTH, Tables([1], [1]))

    def test_whole_numbers_will_do_as_costs_and_there_is_no_negative_zero(self) -> None:
        class Plain(Row):
            free: int

        class Cost(RowWise):
            def cost(self, host: Plain) -> float:
                return host.free or -0.0

        costs = unit(Cost).judge(BOTH, Tables([2], [3, 0])).costs
        self.assertEqual(repr(costs), "[3.0, 0.0]")

    def test_a_unit_without_hosts_answers_once_for_all(self) -> None:
        class Heavy(RowWise):
            def __init__(self, vms: Rows[Vm]) -> None:
                self.memory = sum(vm.memory for vm in vms)

            def keep(self) -> bool | Reason:
                return self.memory < 10 or Reason.FULL

        self.assertEqual(unit(Heavy).judge(BOTH, Tables([2], [4, 5])).verdicts, b"\0")
        self.assertEqual(unit(Heavy).judge(BOTH, Tables([2], [5, 5])).verdicts, b"\1")

    def test_a_request_reads_several_tables(self) -> None:
        class Tenant(Row):
            name: str

        class Asked(Request):
            vm: Vm = table("members")
            tenant: Tenant | None

        class Cost(RowWise):
            def __init__(self, asked: Asked) -> None:
                self.asked = asked

            def cost(self) -> float:
                return self.asked.vm.memory + (100 if self.asked.tenant else 0)

        self.assertEqual(unit(Cost).judge(BOTH, Tables([2, 0], [3, 4])).costs, [7.0])
        self.assertEqual(unit(Cost).judge(BOTH, Tables([1, 1], [3, 0], texts=["red"])).costs, [103.0])

    def test_until_is_told_by_units_that_read_the_time(self) -> None:
        class Now(Row):
            now: Seconds

        class Asked(Request):
            request: Now

        class Window(Row):
            end: Seconds

        class Rests(RowWise):
            def __init__(self, asked: Asked) -> None:
                self.now = asked.request.now

            def keep(self, host: Window) -> bool | Reason:
                return self.now > host.end or Reason.FULL

            def until(self, host: Window) -> int:
                return host.end if self.now <= host.end else FOR_GOOD

        class Unsaid(RowWise):
            def __init__(self, asked: Asked) -> None:
                pass

            def cost(self, host: Window) -> float:
                return 0.0

        self.assertEqual(unit(Rests).judge(BOTH, Tables([1, 2], [5, 9, 1])).until, [9, FOR_GOOD])
        self.assertEqual(unit(Rests).judge(BOTH, Tables([1, 2], [10, 9, 1])).until, [])
        self.assertEqual(unit(Unsaid).judge(BOTH, Tables([1, 2], [5, 9, 1])).until, [5, 5])

    def test_settings_are_checked_by_their_class(self) -> None:
        class Limits(Settings):
            low: int = setting(default=1, meaning="Low.")
            high: int = setting(default=2, meaning="High.")

            def check(self) -> None:
                if self.low > self.high:
                    raise Refused("low is above high")

        class Cost(RowWise):
            def __init__(self, limits: Limits) -> None:
                self.low = limits.low

            def cost(self) -> float:
                return self.low

        made = unit(Cost)
        self.assertTrue(made.checks_settings)
        made.check(Tables([1], [1, 2]))
        with self.assertRaisesRegex(Refused, "low is above high"):
            made.check(Tables([1], [3, 2]))
        self.assertFalse(unit(Memory).checks_settings)


if __name__ == "__main__":
    unittest.main()
