"""What a reader would type works, command by command; links lead somewhere; nothing is left out in silence."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.bootstrapper.documents.native import is_native, read_native
from slipway.contract.yaml_source import load_documents
from tests.docs.console import Scene, blocks, play, scenes
from tools.docgen.markdown import anchor
from tools.oracles import go_programs

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    path.relative_to(ROOT)
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
]
WRITTEN = [path for path in PAGES if path.parent != Path("docs/reference") and path.parts[0] != "examples"]
FIRST = {Path("README.md")}
"""What a reader types first. The commands of all other pages are run by their shard."""

# A page is one story; the sections of README stand alone.
SCENES = [
    pytest.param(scene, id=f"{path}: {scene.name}", marks=[] if path in FIRST else [pytest.mark.long])
    for path in WRITTEN
    for scene in scenes((ROOT / path).read_text(encoding="utf-8"), by_section=path == Path("README.md"))
]
# What a page may name of the tree. Files of a reader who has followed pages here are not among them: commands would
# write into them.
_LINKED = (
    *(path.name for path in PAGES if len(path.parts) == 1),
    *("bootstrapper", "deploy", "docs", "examples", "proto", "provisioners", "sdk", "services", "tests", "tools"),
    *("Makefile", "buf.yaml", "constraints.txt", "docker-compose.yaml", "pyproject.toml", "runtime.txt", ".venv"),
)
_LANGUAGES = {
    *(
        "diff",
        "console",
        "console background",
        "go",
        "json",
        "mermaid",
        "proto",
        "python",
        "sh",
        "text",
        "toml",
        "yaml",
    ),
}


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.timeout(400)
def test_the_commands_of_a_page_do_what_it_says(scene: Scene, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Every command of every page, in a shell of its own, ends and prints as the page tells."""
    path = [str(Path(sys.executable).parent), os.environ["PATH"]]
    if "grpcurl" in scene.text:
        request.getfixturevalue("engine")("grpcurl")
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "grpcurl").symlink_to(go_programs.PROGRAMS["grpcurl"].path)
        path.insert(0, str(tmp_path / "bin"))
    work = tmp_path / "slipway"
    work.mkdir()
    for name in _LINKED:
        if (ROOT / name).exists():
            (work / name).symlink_to(ROOT / name)
    environment = {
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": os.pathsep.join(part for part in sys.path if part),
    }
    if re.search(r"\bgo (build|generate)\b", scene.text):
        request.getfixturevalue("engine")("provisioner-go", "client-go")
        environment |= _of_go()
    port = _two_free_ports()
    wrong = play(scene, work, environment, {9440: port, 9441: port + 1, 9450: port + 2})
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_links_lead_somewhere(path: Path) -> None:
    """Every relative link of a page names a file that is there, and a heading that it has."""
    broken = [target for target in _links(path) if not _is_there(path, target)]
    assert not broken, f"{path}: {broken}"


@pytest.mark.parametrize("path", WRITTEN, ids=str)
def test_no_command_is_left_out_in_silence(path: Path) -> None:
    """A block that looks like commands is run, or says in front of it why not; a command of make is one that exists."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for block in blocks((ROOT / path).read_text(encoding="utf-8")):
        assert block.info in _LANGUAGES, f"{path}:{block.line}: {block.info!r}"
        if block.info == "sh":
            assert block.key, f"{path}:{block.line}: say why it is not run, or make it a console block"
        for target in re.findall(r"\bmake ([a-z-]+)", block.body):
            assert target in targets, f"{path}:{block.line}: make {target}"


@pytest.mark.parametrize("path", WRITTEN, ids=str)
def test_specs_of_a_page_are_valid(path: Path) -> None:
    """Every whole document of ours that a page shows is read without a complaint."""
    for block in blocks((ROOT / path).read_text(encoding="utf-8")):
        if block.info != "yaml" or block.key or "apiVersion: bootstrap.slipway.dev" not in block.body:
            continue  # what is a file is read by the commands of its page
        for document in load_documents(block.body, file=f"{path}:{block.line}"):
            assert is_native(document)
            read_native(document)


def test_there_are_commands() -> None:
    """README and both tutorials are among what is run, so that a change of their form is noticed."""
    names = {param.id.partition(":")[0] for param in SCENES if param.id}
    assert {"README.md", "docs/tutorials/first-machine.md", "docs/tutorials/write-a-provisioner-python.md"} <= names


def _links(path: Path) -> Iterator[str]:
    text = re.sub(r"^```.*?^```", "", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text)):
        if not re.match(r"[a-z]+:", target):
            yield target


def _is_there(path: Path, target: str) -> bool:
    name, _, heading = target.partition("#")
    found = (ROOT / path.parent / name).resolve() if name else ROOT / path
    if not found.exists():
        return False
    return not heading or heading in _anchors(found)


def _anchors(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    headings = {anchor(line.lstrip("#").strip()) for line in text.splitlines() if line.startswith("#")}
    return headings | set(re.findall(r'<a id="([a-z0-9-]+)"></a>', text))


def _of_go() -> dict[str, str]:
    """Give what Go needs to find what it has fetched and built before, and to fetch the rest."""
    told = json.loads(subprocess.run(["go", "env", "-json"], check=True, capture_output=True, text=True).stdout)
    kept = {name: told[name] for name in ("GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOFLAGS")}
    return kept | {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}


def _two_free_ports() -> int:
    """Give a port with two free ones behind it."""
    while True:
        with socket.socket() as first, socket.socket() as second, socket.socket() as third:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            try:
                second.bind(("127.0.0.1", port + 1))
                third.bind(("127.0.0.1", port + 2))
            except OSError:
                continue
            return port
