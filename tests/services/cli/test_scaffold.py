"""A new provisioner works from the first minute: its own tests pass, and its command line is there.

That the tests of one with a plain name pass is shown where its README's command is run.
"""

import base64
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from slipway.cli.scaffold import scaffold
from slipway.sdk import testing
from slipway.v1alpha1 import os_pb2 as ospb

pytestmark = pytest.mark.long


def test_a_new_provisioner_has_a_command_line(tmp_path: Path) -> None:
    """The same flags as every provisioner's."""
    scaffold("my-os", tmp_path / "new")
    done = subprocess.run(
        [sys.executable, "-m", "my_os", "--help"], cwd=tmp_path / "new", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "--registry-address" in done.stdout


def test_the_project_names_its_command(tmp_path: Path) -> None:
    """The wheel holds the package, and installs the command."""
    assert all(path.is_file() for path in scaffold("my-os", tmp_path / "new"))
    project = tomllib.loads((tmp_path / "new" / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"slipway-provisioner-my-os": "my_os.__main__:main"}
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["my_os"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A folder with something in it stays as it is."""
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(FileExistsError):
        scaffold("my-os", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_name_below_a_domain(tmp_path: Path) -> None:
    """It registers under the whole name; package, class, command and format have the part that people say."""
    written = scaffold("my-os.example.com", tmp_path / "new")
    assert tmp_path / "new" / "my_os" / "render.py" in written
    render = (tmp_path / "new" / "my_os" / "render.py").read_text(encoding="utf-8")
    assert 'name = "my-os.example.com"' in render
    assert 'format="my-os/v1"' in render
    assert "class MyOs:" in render
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=tmp_path / "new", check=False
    )
    assert done.returncode == 0


def test_the_decoder_tells_what_a_script_does(tmp_path: Path) -> None:
    """Every file with its owner and mode, and the program with its arguments, however they are quoted."""
    scaffold("my-os", tmp_path / "new")
    argv = ["run", "two words", "it's", "$HOME", "a\nb", "", "|"]
    odd = testing.file("/a 'b'/c", bytes(range(256)), owner="me", group="us", mode=0o640)
    empty = testing.file("/empty", b"")
    bundle = testing.bundle(ospb.OperatingSystem(files=[odd, empty]), argv=argv)
    (tmp_path / "bundle").write_bytes(bundle.SerializeToString())
    script = (
        "import pathlib, sys; from slipway.sdk import testing; from my_os.render import MyOs;"
        "from slipway.v1alpha1.bundle_pb2 import BootstrapBundle as B;"
        "sys.stdout.buffer.write(testing.render(MyOs(), B.FromString(pathlib.Path(sys.argv[1]).read_bytes())))"
    )
    user_data = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "bundle")], cwd=tmp_path / "new", check=True, capture_output=True
    ).stdout
    said = subprocess.run(
        [sys.executable, "my_os/decode.py"], cwd=tmp_path / "new", input=user_data, check=True, capture_output=True
    ).stdout
    found = json.loads(said)
    data = [base64.b64decode(file["content"].pop("data")) for file in found["os"]["files"]]
    assert data == [bytes(range(256)), b""]
    assert found["os"]["files"] == [
        {"path": "/a 'b'/c", "owner": "me", "group": "us", "mode": 0o640, "content": {}},
        {"path": "/empty", "owner": "root", "group": "root", "mode": 0o644, "content": {}},
    ]
    assert found["programs"] == [{"argv": argv}]


@pytest.mark.parametrize(
    "name",
    [
        ".",
        "a..b",
        "a.",
        "a.B",
        "slipway.example.com",
        "",
        "My-os",
        "my_os",
        "-a",
        "a-",
        "1a",
        "a--b",
        "slipway",
        "a" * 64,
        "a/b",
        "$x",
    ],
)
def test_names_that_can_not_be(name: str, tmp_path: Path) -> None:
    """A name ends up in Python, TOML and DNS: what is not safe there is refused."""
    with pytest.raises(ValueError, match="name"):
        scaffold(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()
