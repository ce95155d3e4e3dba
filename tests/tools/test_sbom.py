"""The bill of materials names what the locks name, and is valid CycloneDX."""

import json
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tools.image import packages
from tools.oracles.failures import EngineBroken
from tools.release import sbom
from tools.release.distribution import check_lock

LINUX = {"platform_python_implementation": "CPython", "implementation_name": "cpython", "sys_platform": "linux"}
LOCK = """\
aiohttp==3.14.5 \\
    --hash=sha256:{a} \\
    --hash=sha256:{b}
Google_Re2==1.1 ; sys_platform == 'linux' \\
    --hash=sha256:{a}
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:{a}
""".format(a="a" * 64, b="b" * 64)
GO_SUM = "golang.org/x/sys v0.47.0 h1:abc=\ngolang.org/x/sys v0.47.0/go.mod h1:def=\n"
DEBIAN = "bash 5.2.37-2+b10 amd64\nlibc6 1:2.41-12 amd64\n"
BASE = "sha256:" + "c" * 64


def bill() -> dict[str, object]:
    """Return a bill of all kinds of components, which is valid by CycloneDX's own schema."""
    components = [
        *sbom.python_packages(LOCK, LINUX), *sbom.debian_packages(DEBIAN, "13"), *sbom.go_modules(GO_SUM)
    ]  # fmt: skip
    text = sbom.document("0.1.0", components, base=BASE)
    assert text == sbom.document("0.1.0", reversed(components), base=BASE)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text.decode()) is None
    tree: dict[str, object] = json.loads(text)
    return tree


def test_every_locked_package_of_the_platform_is_named() -> None:
    """Python packages whose marker holds, Debian packages and Go modules, by package URL; nothing of a go.mod only."""
    components = bill()["components"]
    assert isinstance(components, list)
    assert [component["purl"] for component in components] == [
        "pkg:deb/debian/bash@5.2.37-2%2Bb10?arch=amd64&distro=debian-13",
        "pkg:deb/debian/libc6@1%3A2.41-12?arch=amd64&distro=debian-13",
        "pkg:golang/golang.org/x/sys@v0.47.0",
        "pkg:pypi/aiohttp@3.14.5",
        "pkg:pypi/google-re2@1.1",
    ]
    digests = [entry["value"] for entry in components[3]["properties"]]
    assert digests == ["a" * 64, "b" * 64]


def test_the_schema_refuses_an_invalid_bill() -> None:
    """The schema that these tests use refuses an empty component."""
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps({**bill(), "components": [{}]})) is not None


def test_the_project_s_own_locks_are_read_in_full() -> None:
    """Every requirement of runtime.txt is a component on CPython for Linux, with its digests."""
    lock = Path("runtime.txt").read_text(encoding="utf-8")
    components = list(sbom.python_packages(lock, LINUX))
    assert len(components) == sum("==" in line for line in lock.splitlines())
    assert all(component.properties for component in components)
    assert list(sbom.go_modules(Path("machineadm/go.sum").read_text(encoding="utf-8")))


def test_an_image_with_other_packages_is_refused() -> None:
    """A package that the lock does not have, one that is missing and one of another version are named."""
    locked = list(sbom.python_packages(LOCK, LINUX))
    check_lock(locked, {"aiohttp": "3.14.5", "google-re2": "1.1", "slipway-sdk": "0.1.0"})
    for installed in ({"aiohttp": "3.14.5"}, {"aiohttp": "3.14.4", "google-re2": "1.1"}):
        with pytest.raises(EngineBroken, match=r"differ from runtime\.txt"):
            check_lock(locked, installed)


def test_a_debian_package_that_was_not_reviewed_is_named(tmp_path: Path) -> None:
    """A lock shows both sides of a change; the lock of the project has a line for each package."""
    lock = tmp_path / "lock.txt"
    lock.write_text(DEBIAN)
    assert packages.differences(DEBIAN, lock=lock) == []
    changed = DEBIAN.replace("5.2.37-2+b10", "5.2.37-3")
    assert packages.differences(changed, lock=lock) == ["- bash 5.2.37-2+b10 amd64", "+ bash 5.2.37-3 amd64"]
    assert all(
        len(line.split()) == len(DEBIAN.splitlines()[0].split())
        for line in packages.LOCK.read_text(encoding="utf-8").splitlines()
    )
