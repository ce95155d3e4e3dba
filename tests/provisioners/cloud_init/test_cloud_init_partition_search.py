"""The extension by which cloud-init looks for the partition of a disk."""

import json
from typing import Any

import pytest

from slipway.contract.errors import BundleInvalid, UnsupportedFeature
from slipway.provisioners.cloud_init.features import PARTITION_SEARCH
from slipway.sdk import testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.provisioners.cloud_init.documents import document

SDB = ospb.Filesystem(device="/dev/sdb", format="ext4", label="data")
ENTRY = {"device": "/dev/sdb", "filesystem": "ext4", "label": "data", "partition": "auto"}


def bundle(content: str, *filesystems: ospb.Filesystem) -> bundlepb.BootstrapBundle:
    """Make a bundle with filesystems and the extension."""
    made = testing.bundle(ospb.OperatingSystem(filesystems=filesystems))
    extension = made.extensions.add(id=PARTITION_SEARCH, media_type="application/json")
    extension.content.segments.add(data=content.encode())
    return made


def partitions(of: bundlepb.BootstrapBundle) -> list[str]:
    """Give cloud-init's word for the partition of each filesystem."""
    return [entry["partition"] for entry in document(of)["fs_setup"]]


def test_only_the_filesystem_that_is_named_is_searched() -> None:
    """By device, kind and label; every other one is made on its device itself."""
    other, bare = ospb.Filesystem(device="/dev/sdc", format="ext4"), ospb.Filesystem(device="/dev/sdb", format="ext4")
    assert partitions(bundle(json.dumps([ENTRY]), other, SDB, bare)) == ["none", "auto", "none"]


def test_filesystems_that_are_alike_have_their_words_in_order() -> None:
    """They differ in nothing else."""
    assert partitions(bundle(json.dumps([ENTRY, {**ENTRY, "partition": "any"}]), SDB, SDB)) == ["auto", "any"]
    assert partitions(bundle(json.dumps([{**ENTRY, "partition": "none"}, ENTRY]), SDB, SDB)) == ["none", "auto"]


def test_an_entry_without_its_filesystem_is_refused() -> None:
    """It would have no effect, without a word."""
    with pytest.raises(UnsupportedFeature) as caught:
        document(bundle(json.dumps([{**ENTRY, "device": "/dev/sdx"}]), SDB))
    assert [violation.path for violation in caught.value.violations] == ["extensions[0]"]


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "{}", "[1]", "[[]]", "[" * 20000, json.dumps([{"device": "/dev/sdb"}]),
        json.dumps([{**ENTRY, "partition": "both"}]), json.dumps([{**ENTRY, "partition": 1}]),
        json.dumps([{**ENTRY, "more": ""}]),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_by_its_path(content: str) -> None:
    """An unknown key or word is never guessed; the text does not stand in the message."""
    with pytest.raises(BundleInvalid) as caught:
        document(bundle(content, SDB))
    (violation,) = caught.value.violations
    assert violation.path == "extensions[0].content"
    assert "/dev/sdb" not in str(caught.value)


def test_without_the_extension_nothing_is_searched() -> None:
    """Unset, cloud-init would look for a partition by itself."""
    seen: Any = document(ospb.OperatingSystem(filesystems=[SDB]))["fs_setup"]
    assert [entry["partition"] for entry in seen] == ["none"]
