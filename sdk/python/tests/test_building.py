"""What is needed to build, and what is said where it is missing."""

import tempfile
import unittest
from pathlib import Path

from placewright import fault
from placewright.building.imports import Unreadable, imports
from placewright.building.project import BuildError, Project

MODULE = """
from placewright import Row, RowWise

class Host(Row):
    free: int

class Sample(RowWise):
    def cost(self, host: Host) -> float:
        return 1 / host.free
"""


class Projects(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, project: str, name: str, module: str) -> None:
        (self.folder / "pyproject.toml").write_text(project)
        (self.folder / f"{name}.py").write_text(module)

    def test_a_project_says_who_it_is_and_where_its_unit_is(self) -> None:
        self.write('[project]\nname = "well-named"\nversion = "1.2.0"\ndescription = "D."', "well_named", MODULE)
        project = Project.read(self.folder)
        self.assertEqual((project.identity.name, project.module, project.unit.__name__), ("well-named", "well_named", "Sample"))
        self.assertFalse(project.checks_settings)

    def test_what_is_missing_is_told(self) -> None:
        head = '[project]\nname = "{}"\nversion = "1.2.0"\ndescription = "D."\n'
        with self.assertRaisesRegex(BuildError, "a folder with a pyproject.toml"):
            Project.read(self.folder)
        for name, project, module, why in [
            ("one", '[project]\nname = "one"', "", "needs version, description"),
            ("two", head.format("other"), MODULE, "no module other in"),
            ("three", head.format("three"), "", "three has no class that is a subclass of RowWise"),
            ("four", head.format("four"), "import nowhere", "imports nowhere, which is not installed"),
            ("five", head.format("five"), "1 / 0", "cannot be imported:(.|\n)*ZeroDivisionError"),
            ("six", head.format("six") + '[tool.placewright]\nunit = "six:Other"', MODULE, "no class Other"),
        ]:
            self.write(project, name, module)
            with self.subTest(name), self.assertRaisesRegex(BuildError, why):
                Project.read(self.folder)


class Imports(unittest.TestCase):
    def test_the_imports_of_a_component_are_read(self) -> None:
        def name(text: str) -> bytes:
            return bytes([0, len(text)]) + text.encode()

        entries = name("a:b/log@0.1.0") + b"\5\0" + name("wasi:io/x@0.2.0") + b"\5\1" + name("f") + b"\1\0"
        section = bytes([3]) + entries
        component = b"\0asm\x0d\0\1\0" + b"\0\2\1x" + bytes([10, len(section)]) + section
        self.assertEqual(imports(component), ["a:b/log@0.1.0", "wasi:io/x@0.2.0", "f"])
        for wrong in (b"", b"\0asm\1\0\0\0", component[:-20]):
            with self.assertRaises(Unreadable):
                imports(wrong)


class Faults(unittest.TestCase):
    def test_an_exception_is_told_with_the_lines_where_it_happened(self) -> None:
        def deeper() -> float:
            return 1 / int("0")

        try:
            deeper()
        except ZeroDivisionError as error:
            told = fault.sentence(error)
        self.assertRegex(told, r"^ZeroDivisionError: .*; at test_building.py line \d+ in deeper; called from .* in test_")


if __name__ == "__main__":
    unittest.main()
