"""`python -m placewright.building FOLDER [--out FILE | --check]`"""

import argparse
import sys
from pathlib import Path

from placewright.building.component import build, require
from placewright.building.project import BuildError, Project


def main() -> int:
    """Builds the unit, or looks whether that can be done; 0 if that went well."""
    parser = argparse.ArgumentParser("placewright.building", description="Build a policy unit in Python into a component.")
    parser.add_argument("folder", nargs="?", default=".", type=Path, help="the folder of the unit's pyproject.toml")
    parser.add_argument("--out", type=Path, help="where the unit is written; if not given, NAME.wasm in its folder")
    parser.add_argument("--check", action="store_true", help="build nothing: only look whether what builds the unit is there")
    arguments = parser.parse_args()
    try:
        project = Project.read(arguments.folder)
        if arguments.check:
            require(project)
            return 0
        out = arguments.out or project.folder / f"{project.identity.name}.wasm"
        size = build(project, out)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{out}: {size / (1 << 20):.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
