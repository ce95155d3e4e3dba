"""Container images without a registry: one archive in OCI's layout, out of programs that are linked statically.

All programs of Kubernetes are one file, so that they are one layer: images differ only in their configuration, and a
store holds the bytes once.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

_MEDIA = "application/vnd.oci.image"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
Entries = Mapping[str, Path | str]
"""What a layer holds, by absolute path: a file of this machine, or the target of a link."""


@dataclasses.dataclass(frozen=True, slots=True)
class Image:
    """An image by its full reference; without an entry point a pod has to name its command."""

    reference: str
    layers: tuple[Entries, ...]
    entry_point: tuple[str, ...] = ()


def write_archive(target: Path, images: Sequence[Image]) -> None:
    """Writes the images as one archive, which ``ctr images import`` takes."""
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as archive:
        written: dict[str, int] = {}
        layers: dict[int, tuple[str, int]] = {}
        manifests = [_write_image(archive, image, written=written, layers=layers) for image in images]
        index = {"schemaVersion": 2, "mediaType": f"{_MEDIA}.index.v1+json", "manifests": manifests}
        _add(archive, "index.json", json.dumps(index).encode())
        _add(archive, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')


def _write_image(
    archive: tarfile.TarFile, image: Image, *, written: dict[str, int], layers: dict[int, tuple[str, int]]
) -> dict[str, object]:
    blobs = []
    for entries in image.layers:
        if id(entries) not in layers:  # the same layer of two images is made once
            layers[id(entries)] = _blob(archive, _layer(entries), written)
        blobs.append(layers[id(entries)])
    architecture = _ARCHITECTURES[platform.machine()]
    config = {
        "architecture": architecture,
        "os": "linux",
        "config": {"Entrypoint": list(image.entry_point), "Env": [_PATH], "WorkingDir": "/"},
        "rootfs": {"type": "layers", "diff_ids": [digest for digest, _ in blobs]},
    }
    digest, size = _blob(archive, json.dumps(config).encode(), written)
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_MEDIA}.manifest.v1+json",
        "config": {"mediaType": f"{_MEDIA}.config.v1+json", "digest": digest, "size": size},
        "layers": [{"mediaType": f"{_MEDIA}.layer.v1.tar", "digest": blob, "size": length} for blob, length in blobs],
    }
    digest, size = _blob(archive, json.dumps(manifest).encode(), written)
    return {
        "mediaType": f"{_MEDIA}.manifest.v1+json",
        "digest": digest,
        "size": size,
        "platform": {"architecture": architecture, "os": "linux"},
        "annotations": {
            "io.containerd.image.name": image.reference,
            "org.opencontainers.image.ref.name": image.reference.rpartition(":")[2],
        },
    }


def _layer(entries: Entries) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as layer:
        for folder in _folders(entries):
            member = tarfile.TarInfo(folder)
            member.type, member.mode = tarfile.DIRTYPE, 0o755
            layer.addfile(member)
        for path, content in sorted(entries.items()):
            member = tarfile.TarInfo(path.lstrip("/"))
            member.mode = 0o755
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                layer.addfile(member)
                continue
            member.size = content.stat().st_size
            with content.open("rb") as handle:
                layer.addfile(member, handle)
    return stream.getvalue()


def _folders(entries: Entries) -> Iterator[str]:
    names = {str(parent).lstrip("/") for path in entries for parent in PurePosixPath(path).parents}
    yield from sorted(names - {""})


def _blob(archive: tarfile.TarFile, content: bytes, written: dict[str, int]) -> tuple[str, int]:
    name = hashlib.sha256(content).hexdigest()
    if name not in written:
        written[name] = len(content)
        _add(archive, f"blobs/sha256/{name}", content)
    return f"sha256:{name}", len(content)


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.mode, member.size = 0o644, len(content)
    archive.addfile(member, io.BytesIO(content))
