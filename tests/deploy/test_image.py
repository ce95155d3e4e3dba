"""The image, run for real: the whole compose file by docker compose on podman."""

import json
from pathlib import Path
from urllib.parse import unquote

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tools.image.build import build, megabytes
from tools.image.check import check
from tools.image.insides import Insides
from tools.image.packages import write_lock
from tools.image.podman import podman
from tools.oracles.failures import EngineBroken
from tools.release.distribution import bill_of_materials

_OWN_MEGABYTES = 130


@pytest.mark.engine
@pytest.mark.timeout(420)
def test_the_compose_file_keeps_its_promises(image: str) -> None:
    """Six healthy services, machines rendered, strangers kept out, renewal, restart, a clean end, nothing left."""
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
