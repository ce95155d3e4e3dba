"""A release folder of machineadm: a binary for each platform, and the signed manifest."""

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from slipway.bootstrapper.artifacts import dsse
from slipway.bootstrapper.artifacts.release import PAYLOAD_TYPE, Binary, Release
from slipway.bootstrapper.lowering.runners.step_data import STEP_DATA
from slipway.contract.version import VERSION
from tools.oracles import machineadm


def build(target: Path, keys: Sequence[Ed25519PrivateKey], *, expires: datetime) -> Release:
    """Compile machineadm for every platform and write the release folder.

    Raises:
        EngineMissing, EngineBroken: as machineadm.compile_for().
    """
    with tempfile.TemporaryDirectory() as scratch:
        compiled = {platform: Path(scratch) / machineadm.file_name(platform) for platform in machineadm.PLATFORMS}
        for platform, path in compiled.items():
            machineadm.compile_for(platform, path)
        return write(target, compiled, keys, expires=expires)


def write(
    target: Path,
    programs: dict[str, Path],
    keys: Sequence[Ed25519PrivateKey],
    *,
    expires: datetime,
    version: str = VERSION,
) -> Release:
    """Write the release folder of programs by platform ("linux/amd64"): the same files give the same bytes."""
    binaries = []
    for platform, path in sorted(programs.items()):
        system, _, architecture = platform.partition("/")
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        binary = Binary.model_validate(
            {"os": system, "architecture": architecture, "sha256": digest, "size": len(data)}
        )
        blob = target / binary.path
        blob.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, blob)
        binaries.append(binary)
    release = Release(
        name=machineadm.NAME, version=version, expires=expires, step_data=STEP_DATA, binaries=tuple(binaries)
    )
    manifest = target / release.manifest_path
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_bytes(dsse.sign(release.serialise(), PAYLOAD_TYPE, keys))
    return release
