"""componentize-py, run with what a unit needs."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import placewright
from placewright.building.imports import Unreadable, imports
from placewright.building.project import BuildError, Project

#: The version that units are built with. Another one may speak the contract another way.
VERSION = "0.25.1"

#: Its command, whatever folder pip has put that in.
RUN = "import sys, componentize_py; sys.argv[0] = 'componentize-py'; sys.exit(componentize_py.script())"

#: Name of the module that is written for each build; its exports are the component's.
ENTRY = "placewright_entry"

#: What a unit may import.
ALLOWED = ("placewright:policy/log@", "placewright:policy/types@")


def build(project: Project, out: Path) -> int:
    """Builds the component into the file; returns its bytes.

    Raises `BuildError` if componentize-py is missing or fails, or the component imports
    what no unit may.
    """
    require(project)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"{ENTRY}.py").write_text(entry(project), encoding="utf-8")
        made = Path(folder) / "unit.wasm"
        run(command(project, Path(folder), made))
        component = made.read_bytes()
    try:
        more = [name for name in imports(component) if not name.startswith(ALLOWED)]
    except Unreadable as error:
        raise BuildError(f"componentize-py made what is no component: {error}") from error
    if more:
        raise BuildError(f"the component imports {', '.join(more)}, and a unit may import nothing but the log")
    try:
        out.write_bytes(component)
    except OSError as error:
        raise BuildError(f"cannot write {out}: {error.strerror}") from error
    return len(component)


def require(project: Project) -> None:
    """Looks whether componentize-py is there in the right version."""
    try:
        found = metadata.version("componentize-py")
    except metadata.PackageNotFoundError:
        raise BuildError(
            f"Building Python units needs componentize-py {VERSION}, which is not installed. Install it with: {how(project)}"
        ) from None
    if found != VERSION:
        raise BuildError(
            f"componentize-py is here in version {found}, and units are built with {VERSION}; get it with: {how(project)}"
        )


def how(project: Project) -> str:
    """The command that installs componentize-py: into the virtual environment that this
    runs in, or else into a new one, which is found there."""
    pinned = f"componentize-py=={VERSION}"
    if sys.prefix != sys.base_prefix:
        return f"{sys.executable} -m pip install {pinned}"
    venv = project.folder / ".venv"
    return f"{sys.executable} -m venv {venv} && {venv}/bin/python -m pip install {pinned}"


def entry(project: Project) -> str:
    """The module whose classes componentize-py exports."""
    return (
        f"from placewright.component import exports\n"
        f"from placewright.unit import Identity\n"
        f"from {project.module} import {project.unit.__name__} as Author\n\n"
        f"Unit, Judge, Settings = exports(Author, {project.identity!r})\n"
    )


def command(project: Project, folder: Path, out: Path) -> list[str]:
    """The call of componentize-py."""
    worlds = ["judging", *(["checking-settings"] if project.checks_settings else [])]
    paths = [folder, project.sources, Path(placewright.__file__).parent.parent]
    return [
        *(sys.executable, "-c", RUN, "--quiet", "--wit-path", str(contract())),
        *(part for world in worlds for part in ("--world", world)),
        *("componentize", "--stub-wasi", "--output", str(out)),
        *(part for path in paths for part in ("--python-path", str(path))),
        ENTRY,
    ]


def contract() -> Path:
    """The folder of the contract: beside this package, or in the repository around it."""
    package = Path(placewright.__file__).resolve().parent
    for folder in (package / "wit", *(above / "wit" for above in package.parents)):
        if (folder / "policy.wit").is_file():
            return folder
    raise BuildError(f"the contract, wit/policy.wit, is neither in {package} nor in a folder above it")


def run(arguments: list[str]) -> None:
    """Runs it; what it says is told only if it fails."""
    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip()
        raise BuildError(f"componentize-py could not build the unit (exit code {done.returncode}):\n{said}")
