"""What a unit's `pyproject.toml` says::

    [project]
    name = "my-unit"
    version = "0.1.0"
    description = "One sentence for the admin."

    [tool.placewright]                # all of it may be left out
    unit = "my_unit:MyUnit"           # the module, and the class in it
    aliases = ["OptimalForMemory"]    # names of the same rule in other systems
"""

from __future__ import annotations

import importlib
import sys
import tomllib
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from placewright.declaring import DeclarationError
from placewright.row_wise import RowWise
from placewright.unit import Identity, Unit


class BuildError(Exception):
    """Why there is no component: what is wrong, where, and what to do."""


@dataclass(frozen=True)
class Project:
    """A unit's project, whose module was imported once to see what it is."""

    folder: Path
    #: Where its modules are.
    sources: Path
    identity: Identity
    module: str
    unit: type[RowWise]
    #: Whether there are rules between settings.
    checks_settings: bool

    @staticmethod
    def read(folder: Path) -> Project:
        """The project in the folder, or of the `pyproject.toml` that is given."""
        file = folder if folder.name == "pyproject.toml" else folder / "pyproject.toml"
        written = parsed(file)
        identity = identity_of(file, written)
        home = file.resolve().parent
        sources = home / "src" if (home / "src").is_dir() else home
        place = tool(written).get("unit", identity.name.replace("-", "_"))
        module, _, name = str(place).partition(":")
        unit = unit_of(imported(sources, module), name)
        try:
            checks_settings = Unit(unit, identity).checks_settings
        except DeclarationError as error:
            raise BuildError(str(error)) from error
        return Project(home, sources, identity, module, unit, checks_settings)


def parsed(file: Path) -> dict[str, Any]:
    """A file of TOML."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BuildError(f"cannot read {file}: a unit in Python is a folder with a pyproject.toml") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BuildError(f"{file}: {error}") from error


def tool(written: dict[str, Any]) -> dict[str, Any]:
    """What is written for this tool."""
    found = written.get("tool", {}).get("placewright", {})
    return found if isinstance(found, dict) else {}


def identity_of(file: Path, written: dict[str, Any]) -> Identity:
    """Who the unit is."""
    project = written.get("project", {})
    missing = [key for key in ("name", "version", "description") if not isinstance(project.get(key), str)]
    if missing:
        raise BuildError(f"{file}: under [project] it needs {', '.join(missing)}: a unit says who it is")
    return Identity(project["name"], project["version"], project["description"], tuple(tool(written).get("aliases", ())))


def imported(sources: Path, module: str) -> ModuleType:
    """The author's module."""
    sys.path.insert(0, str(sources))
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise BuildError(f"{module} imports {error.name}, which is not installed") from error
        raise BuildError(
            f"there is no module {module} in {sources}; another one is named in pyproject.toml, under "
            f'[tool.placewright]: unit = "MODULE:CLASS"'
        ) from error
    except DeclarationError as error:
        raise BuildError(str(error)) from error
    except Exception as error:
        raise BuildError(f"{module} cannot be imported:\n{traceback.format_exc()}") from error


def unit_of(module: ModuleType, name: str) -> type[RowWise]:
    """The class of the unit: the one that is named, or the only one of the module."""
    found = [it for it in vars(module).values() if isinstance(it, type) and issubclass(it, RowWise)]
    own = [it for it in found if it.__module__ == module.__name__ and (not name or it.__name__ == name)]
    if len(own) == 1:
        return own[0]
    wanted = f"class {name}" if name else "class"
    raise BuildError(
        f"{module.__name__} has {len(own) or 'no'} {wanted} that is a subclass of RowWise; name one in pyproject.toml, "
        'under [tool.placewright]: unit = "MODULE:CLASS"'
    )
