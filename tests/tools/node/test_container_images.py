"""An archive of images: OCI's layout, each layer once, and what a registry makes of it."""

import hashlib
import io
import json
import tarfile

import pytest

from tools.node import registry
from tools.node.container_images import Image, write_archive


@pytest.fixture
def archive(tmp_path):
    """Two images that share a layer; one has an entry point and a link more."""
    program = tmp_path / "program"
    program.write_bytes(b"#!program")
    shared = {"/usr/bin/program": program}
    target = tmp_path / "images.tar"
    write_archive(
        target,
        [
            Image("registry.example.com/first:1", (shared,), ("/usr/bin/program",)),
            Image("registry.example.com/path/second:2", (shared, {"/usr/bin/link": "program"})),
        ],
    )
    return target


def test_every_blob_is_what_its_name_says(archive):
    """Names are digests of contents; the layer that both have is there once."""
    with tarfile.open(archive) as opened:
        names = opened.getnames()
        assert len(names) == len(set(names))
        blobs = {name: opened.extractfile(name).read() for name in names if name.startswith("blobs/")}
    assert all(name.endswith(hashlib.sha256(content).hexdigest()) for name, content in blobs.items())
    assert len(blobs) == 2 + 2 + 2  # manifests, configurations, layers


def test_a_registry_finds_images_by_name_and_tag_and_layers_by_digest(archive):
    """From tag to manifest to layer to file."""
    blobs, tags = registry.read(archive)
    assert set(tags) == {("first", "1"), ("path/second", "2")}

    def blob(digest: str) -> bytes:
        offset, size = blobs[digest]
        return archive.read_bytes()[offset : offset + size]

    manifest = json.loads(blob(tags["path/second", "2"]))
    first, second = (io.BytesIO(blob(layer["digest"])) for layer in manifest["layers"])
    with tarfile.open(fileobj=first) as layer:
        assert layer.extractfile("usr/bin/program").read() == b"#!program"
        assert layer.getmember("usr/bin/program").mode == 0o755
    with tarfile.open(fileobj=second) as layer:
        assert layer.getmember("usr/bin/link").linkname == "program"
    config = json.loads(blob(json.loads(blob(tags["first", "1"]))["config"]["digest"]))
    assert config["config"]["Entrypoint"] == ["/usr/bin/program"]
    assert config["rootfs"]["diff_ids"] == [manifest["layers"][0]["digest"]]
