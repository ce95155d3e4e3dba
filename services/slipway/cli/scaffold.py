"""Write a new provisioner: a package of its own that works, tested, from the first minute.

An author learns more from forty lines that run than from a page about them.
"""

import re
import sys
from importlib import resources
from keyword import iskeyword
from pathlib import Path
from string import Template

import tomli_w

_LABEL = r"[a-z0-9]+(-[a-z0-9]+)*"
_NAME = re.compile(rf"(?![0-9]){_LABEL}(\.{_LABEL})*")
_MOST = 63
# A package of this name would hide the SDK, and the other one the tests beside it.
_OWN = frozenset({"slipway", "tests"})


def label_of(name: str) -> str:
    """Give what a provisioner is called by people: the part of its name before the first dot."""
    return name.partition(".")[0]


def package_of(name: str) -> str:
    """Give the name of a provisioner's package."""
    return label_of(name).replace("-", "_")


def scaffold(name: str, folder: Path) -> list[Path]:
    """Write the provisioner `name` into `folder`, which must be new or empty, and give the files that were written.

    Raises:
        ValueError: the name is no DNS label or subdomain, or its first part cannot be a package's.
        FileExistsError: there is something in the folder.
    """
    label, package = label_of(name), package_of(name)
    if (
        not _NAME.fullmatch(name)
        or len(name) > _MOST
        or package in _OWN | sys.stdlib_module_names
        or iskeyword(package)
    ):
        raise ValueError("a name has lower-case letters, digits and dashes, dots between words, and is not taken")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} is there already and not an empty folder")
    words = {
        "name": name,
        "label": label,
        "package": package,
        "class_name": "".join(part.capitalize() for part in label.split("-")),
        "command": f"slipway-provisioner-{label}",
    }
    texts = {
        Path(package, "__init__.py"): _filled("init.py", words),
        Path(package, "__main__.py"): _filled("main.py", words),
        Path(package, "render.py"): _filled("render.py", words),
        Path(package, "decode.py"): _filled("decode.py", words),
        Path("tests", "test_render.py"): _filled("test_render.py", words),
        Path("README.md"): _filled("README.md", words),
        Path("pyproject.toml"): tomli_w.dumps(_project(words)),
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return [folder / path for path in texts]


def _filled(file: str, words: dict[str, str]) -> str:
    source = resources.files("slipway.cli").joinpath("scaffold_files", f"{file}.tmpl")
    return Template(source.read_text(encoding="utf-8")).substitute(words)


def _project(words: dict[str, str]) -> dict[str, object]:
    return {
        "build-system": {"requires": ["hatchling>=1.27,<2"], "build-backend": "hatchling.build"},
        "project": {
            "name": words["command"],
            "version": "0.1.0",
            "requires-python": ">=3.11",
            "dependencies": ["slipway-sdk"],
            "scripts": {words["command"]: f"{words['package']}.__main__:main"},
            "optional-dependencies": {"test": ["pytest>=8.3"]},
        },
        "tool": {
            "hatch": {"build": {"targets": {"wheel": {"packages": [words["package"]]}}}},
            "pytest": {"ini_options": {"testpaths": ["tests"], "pythonpath": ["."]}},
        },
    }
