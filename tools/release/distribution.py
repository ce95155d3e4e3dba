"""Image, wheels and bill of materials of a version, and the signed statement about them."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from slipway.bootstrapper.artifacts import dsse
from slipway.bootstrapper.artifacts.distribution import (
    FOLDER,
    PAYLOAD_TYPE,
    Digests,
    Distribution,
    Predicate,
    Subject,
    file_digest,
)
from slipway.contract.version import VERSION
from tools.image import packages
from tools.image.podman import podman
from tools.oracles.failures import EngineBroken
from tools.release import sbom

ROOT = Path(__file__).resolve().parents[2]
OWN = frozenset({"slipway-bootstrap", "slipway-sdk"})
_LABEL = "org.opencontainers.image.base.name"
_PROBE = """
import importlib.metadata as metadata, json, os, platform, sys
print(json.dumps({
    "markers": {
        "implementation_name": sys.implementation.name, "os_name": os.name, "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(), "platform_system": platform.system(),
        "python_full_version": platform.python_version(), "sys_platform": sys.platform,
        "python_version": ".".join(platform.python_version_tuple()[:2]), "extra": "",
    },
    "installed": {each.metadata["Name"].lower().replace("_", "-").replace(".", "-"): each.version
                  for each in metadata.distributions()},
    "debian": platform.freedesktop_os_release()["VERSION_ID"],
}))
"""


def build(
    target: Path, image: str, keys: Sequence[Ed25519PrivateKey], *, expires: datetime, lock: Path = packages.LOCK
) -> Distribution:
    """Write image, wheels, bill of materials and their signed statement into a release folder.

    `lock` names the reviewed Debian packages.

    Raises:
        EngineBroken: the image is not what the locks say, or a part could not be made.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        subprocess.run(
            [
                sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps",
                "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT / "sdk" / "python"), str(ROOT),
            ],
            check=True,
        )  # fmt: skip
        podman("save", "--quiet", "--format", "oci-archive", "--output", str(folder / _image_file()), image)
        (folder / f"slipway-{VERSION}.cdx.json").write_bytes(bill_of_materials(image, lock=lock))
        return write(target, sorted(folder.iterdir()), keys, expires=expires)


def write(
    target: Path, files: Sequence[Path], keys: Sequence[Ed25519PrivateKey], *, expires: datetime, version: str = VERSION
) -> Distribution:
    """Copy files into the distribution of a release folder, in place of former ones, and sign them."""
    folder = target / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in files:
        shutil.copyfile(file, folder / file.name)
    distribution = Distribution(
        subject=tuple(Subject(name=file.name, digest=Digests(sha256=file_digest(file))) for file in files),
        predicate=Predicate(version=version, expires=expires),
    )
    envelope = dsse.sign(distribution.serialise(), PAYLOAD_TYPE, keys)
    (folder / distribution.file_name).write_bytes(envelope)
    return distribution


def bill_of_materials(image: str, *, lock: Path = packages.LOCK) -> bytes:
    """Return the bill of materials of an image and of machineadm; `lock` names the reviewed Debian packages.

    Raises:
        EngineBroken: the image has other packages than the locks, or its base was not given by digest.
    """
    base = podman("image", "inspect", "--format", f'{{{{index .Labels "{_LABEL}"}}}}', image).strip()
    if "@sha256:" not in base:
        raise EngineBroken(f"{image} was not built on a base given by digest: run 'make image'")
    observed = json.loads(podman("run", "--rm", image, "/opt/slipway/bin/python3", "-I", "-c", _PROBE))
    python = list(sbom.python_packages((ROOT / "runtime.txt").read_text(encoding="utf-8"), observed["markers"]))
    check_lock(python, observed["installed"])
    listing = packages.installed(image)
    changed = packages.differences(listing, lock=lock)
    if changed:
        raise EngineBroken(f"Debian packages differ from the lock: {'; '.join(changed[:5])}: {packages.REMEDY}")
    components = [*python, *sbom.debian_packages(listing, observed["debian"]), *_go_modules()]
    return sbom.document(VERSION, components, base=base.partition("@")[2])


def check_lock(locked: Sequence[sbom.Component], installed: Mapping[str, str]) -> None:
    """Refuse an image whose Python packages are not those of the lock.

    Raises:
        EngineBroken: they differ.
    """
    expected = {component.name: component.version for component in locked}
    others = {name: version for name, version in installed.items() if name not in OWN}
    if expected != others:
        names = sorted(name for name, _ in expected.items() ^ others.items())
        raise EngineBroken(f"Python packages differ from runtime.txt: {', '.join(names[:5])}: run 'make image' again")


def _go_modules() -> Iterator[sbom.Component]:
    yield from sbom.go_modules((ROOT / "machineadm" / "go.sum").read_text(encoding="utf-8"))
    toolchain = subprocess.run(["go", "env", "GOVERSION"], check=True, capture_output=True, text=True).stdout
    version = toolchain.strip().removeprefix("go")
    yield sbom.Component("stdlib", version, f"pkg:golang/stdlib@{version}")


def _image_file() -> str:
    return f"slipway-image-{VERSION}.tar"
