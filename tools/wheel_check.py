"""Compares the two wheels with the tree, byte by byte: ``python -m tools.wheel_check dist/*.whl``.

A wheel that holds every file of its source roots as it is, the generated code, one top-level name, and the programs
that are declared can only behave like the tree. So no test has to run a second time against it.
"""

from __future__ import annotations

import configparser
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools import repository

ROOT = Path(__file__).resolve().parents[1]
TOP = "slipway"
"""The only name that an installation puts on the path."""
SOURCE_ROOTS = ("bootstrapper", "provisioners", "sdk/python", "services")


def main(arguments: Sequence[str]) -> int:
    """Print what is wrong, if anything."""
    wheels = [Path(argument) for argument in arguments]
    with tempfile.TemporaryDirectory() as folder:
        expected = {**in_tree(ROOT), **generated(ROOT, Path(folder))}
    wrong = list(differences(expected, wheels)) + list(undeclared(ROOT, wheels))
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(wheels)} wheels, {len(expected)} files, {len(wrong)} problems")
    return 1 if wrong else 0


def in_tree(root: Path) -> dict[str, bytes]:
    """Give every file of the project below the source roots, by its path in an installation."""
    return {
        path.removeprefix(f"{source_root}/"): (root / path).read_bytes()
        for path in repository.files(root)
        for source_root in SOURCE_ROOTS
        if path.startswith(f"{source_root}/{TOP}/")
    }


def generated(root: Path, folder: Path) -> dict[str, bytes]:
    """Give the code that is generated from the contract, made anew."""
    command = [sys.executable, "-c", "import pathlib, sys, protogen; protogen.generate(root=pathlib.Path(sys.argv[1]),"]
    command[-1] += " out=pathlib.Path(sys.argv[2]))"
    subprocess.run([*command, str(root), str(folder)], cwd=root / "tools", check=True)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def differences(expected: Mapping[str, bytes], wheels: Sequence[Path]) -> Iterator[str]:
    """Say what is missing, different, twice or too much."""
    missing = dict(expected)
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.split("/")[0].endswith(".dist-info"):
                    continue
                if name not in expected:
                    yield f"{wheel.name}: {name} is not of the tree"
                elif missing.pop(name, None) is None:
                    yield f"{wheel.name}: {name} is in two wheels"
                elif archive.read(name) != expected[name]:
                    yield f"{wheel.name}: {name} is not as in the tree"
    yield from (f"{name} is in no wheel" for name in sorted(missing))


def undeclared(root: Path, wheels: Sequence[Path]) -> Iterator[str]:
    """Say which programs the wheels have and pyproject.toml has not, and the other way round."""
    declared = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    installed: dict[str, str] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith(".dist-info/entry_points.txt"):
                    entries = configparser.ConfigParser()
                    entries.read_string(archive.read(name).decode())
                    installed.update(entries["console_scripts"])
    if installed != declared:
        yield f"programs: {sorted(set(installed.items()) ^ set(declared.items()))}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
