"""The image, run for real: the whole compose file by docker compose on podman."""

import pytest

from tools.image.build import megabytes
from tools.image.check import check
from tools.image.insides import Insides
from tools.image.podman import podman

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


def test_a_container_that_may_too_much_is_noticed() -> None:
    """The look into containers tells what is wrong by its name."""
    found = {
        "uid": 0, "gid": 65532, "capabilities": 1, "seccomp": "2", "no_new_privileges": "1", "writable": ["/", "/tmp"],
        "keys": 7, "key": [0, 65532, "0o640"], "verbosity": "NONE", "outside": True,
    }  # fmt: skip
    assert set(Insides("x", found).wrong(published=True)) == {"uid", "capabilities", "writable", "keys"}
    assert "outside" in Insides("x", found).wrong(published=False)
