"""The image, run for real: the whole compose file by docker compose on podman."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from slipway.bootstrapper.artifacts.distribution import FOLDER
from slipway.cli.command_line import cli
from slipway.contract.version import VERSION
from tools.image.build import build, megabytes
from tools.image.check import check
from tools.image.insides import Insides
from tools.image.packages import write_lock
from tools.image.podman import podman
from tools.oracles.failures import EngineBroken
from tools.release import distribution, keys
from tools.release.distribution import bill_of_materials

_OWN_MEGABYTES = 150


@pytest.mark.engine
@pytest.mark.timeout(600)
def test_the_compose_file_keeps_its_promises(image: str) -> None:
    """One service, the gateway, or seven; machines rendered, strangers kept out, renewal, restart, nothing left."""
    assert check(image).wrong == []


@pytest.mark.engine
def test_the_image_holds_what_it_needs(image: str) -> None:
    """No pip, no build tools, nothing that only developers use, no settings of the build; and it is not large."""
    script = (
        "import importlib.util as u, os; "
        "print([m for m in ('pip', 'tools', 'tests', 'grpc_tools', 'pytest') if u.find_spec(m)], "
        "[n for n in os.environ if n.startswith(('PIP', 'SSL'))])"
    )
    assert podman("run", "--rm", image, "/opt/slipway/bin/python3", "-I", "-c", script) == "[] []\n"
    size = podman("run", "--rm", image, "du", "-sm", "/opt/slipway").split()[0]
    assert int(size) < _OWN_MEGABYTES
    assert megabytes(image) > int(size)


@pytest.mark.engine
def test_the_bill_of_materials_is_that_of_the_image(image: str, tmp_path: Path) -> None:
    """Every Python and Debian package of the image by version, its base by digest, valid by CycloneDX's schema."""
    write_lock(image, lock=tmp_path / "lock.txt")
    text = bill_of_materials(image, lock=tmp_path / "lock.txt").decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    tree = json.loads(text)
    purls = {component["purl"].partition("?")[0] for component in tree["components"]}
    listing = podman("run", "--rm", image, "dpkg-query", "-W", "-f", "${Package}\n").split()
    assert listing
    assert {unquote(purl.split("@")[0].rpartition("/")[2]) for purl in purls if purl.startswith("pkg:deb/")} == set(
        listing
    )
    version = podman("run", "--rm", image, "python3", "-c", "import grpc; print(grpc.__version__)").strip()
    assert f"pkg:pypi/grpcio@{version}" in purls
    (base,) = tree["metadata"]["component"]["properties"]
    assert base["value"].startswith("sha256:")
    (tmp_path / "lock.txt").write_text("bash 1 amd64\n")
    with pytest.raises(EngineBroken, match="differ from the lock"):
        bill_of_materials(image, lock=tmp_path / "lock.txt")


@pytest.mark.engine
@pytest.mark.timeout(420)
def test_what_is_signed_is_what_is_installed(image: str, tmp_path: Path) -> None:
    """Image and wheels are built and signed, verified, loaded and installed, and refused when changed."""
    release, lock, key = tmp_path / "release", tmp_path / "lock.txt", tmp_path / "release.pem"
    public = keys.generate(key)
    write_lock(image, lock=lock)
    distribution.build(release, image, [keys.read(key)], expires=datetime.now(UTC) + timedelta(days=1), lock=lock)
    verify = ["artifacts", "verify", str(release), "--keys", str(public), "--minimum-version", VERSION, "-o", "json"]
    result = CliRunner().invoke(cli, verify)
    assert result.exit_code == 0, result.output
    assert [row["state"] for row in json.loads(result.stdout)] == ["verified"] * 4

    folder = release / FOLDER
    (archive,), wheels = folder.glob("*.tar"), sorted(folder.glob("*.whl"))
    config = "{{.RootFS.Layers}} {{.Config.User}} {{.Config.Labels}}"
    loaded = podman("load", "--quiet", "--input", str(archive)).partition(":")[2].strip()
    assert podman("image", "inspect", "--format", config, loaded) == podman(
        "image", "inspect", "--format", config, image
    )
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", str(site), *map(str, wheels)], check=True)
    shown = "import slipway.contract.version as v, slipway.cli; print(v.VERSION, v.__file__)"
    installed = subprocess.run(
        [sys.executable, "-c", shown],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(site)},
    )
    assert installed.stdout.split() == [VERSION, str(site / "slipway" / "contract" / "version.py")]

    for file in (archive, *wheels):
        data = file.read_bytes()
        file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        result = CliRunner().invoke(cli, verify)
        assert (result.exit_code, "file-differs" in result.output) == (1, True), file.name
        file.write_bytes(data)


@pytest.mark.engine
def test_a_base_without_digest_is_refused(image: str) -> None:
    """A tag can be overwritten: the Dockerfile itself ends the build."""
    with pytest.raises(EngineBroken, match="must be NAME@sha256:DIGEST"):
        build(image, name="localhost/slipway-unpinned:latest")


def test_a_container_that_may_too_much_is_noticed() -> None:
    """The look into containers tells what is wrong by its name."""
    found = {
        "uid": 0, "gid": 65532, "capabilities": 1, "seccomp": "2", "no_new_privileges": "1", "writable": ["/", "/tmp"],
        "keys": 7, "key": [0, 65532, "0o640"], "verbosity": "NONE", "outside": True,
    }  # fmt: skip
    assert set(Insides("x", found).wrong(published=True)) == {"uid", "capabilities", "writable", "keys"}
    assert "outside" in Insides("x", found).wrong(published=False)
