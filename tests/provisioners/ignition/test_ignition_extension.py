"""A config of the user's own, nested in the one that is made."""

import json
import tracemalloc
from typing import Any

import pytest

from slipway.contract.errors import BundleInvalid
from slipway.sdk import testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.provisioners.ignition.configs import config, content, refusals


def _extension(document: object, media_type: str = "application/json") -> bundlepb.BootstrapBundle:
    of = testing.bundle(ospb.OperatingSystem(files=[testing.file("/etc/a", b"")]))
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    of.extensions.append(
        specpb.Extension(
            id="ignition.slipway.dev/config",
            media_type=media_type,
            content=contentpb.Content(segments=[contentpb.Segment(data=data)]),
        )
    )
    return of


def test_an_extension_is_merged_by_ignition_itself() -> None:
    """It is a nested config, byte for byte, so that the rules of the merge are Ignition's own."""
    document = b'{"ignition": {"version": "3.0.0"}, "storage": {"files": [{"path": "/etc/b"}]}}'
    (nested,) = config(_extension(document))["ignition"]["config"]["merge"]
    assert content(nested) == document
    old = document.replace(b"3.0.0", b"2.2.0")
    (nested,) = config(_extension(old), "2.3.0")["ignition"]["config"]["append"]
    assert content(nested) == old


def test_authorities_are_not_given_to_what_an_extension_downloads() -> None:
    """Ignition would trust them for every download of the whole config, so the file is left to the bootstrapper."""
    of = _extension({"ignition": {"version": "3.3.0"}})
    remote = ospb.RemoteContent(urls=["https://a"], ca=contentpb.Content(data=b"own"))
    of.os.files.add(path="/b", owner="root", group="root", mode=0o644, remote=remote)
    assert refusals(of) == ["os.files[1]"]


def test_a_long_extension_is_packed_where_the_spec_can_unpack_it() -> None:
    """Spec 2 has no word for the packing of a nested config."""
    for spec, packed in (("3.3.0", True), ("2.3.0", False)):
        document = json.dumps({"ignition": {"version": spec}, "x": ["y"] * 500}).encode()
        ignition = config(_extension(document), spec)["ignition"]["config"]
        (nested,) = ignition.get("merge") or ignition["append"]
        assert ("compression" in nested) is packed
        assert content(nested) == document


@pytest.mark.parametrize(
    ("document", "path", "reason"),
    [
        ({"ignition": {"version": "3.4.0"}}, "extensions[0].content", "newer than the machine's Ignition may be"),
        ({"ignition": {"version": "2.3.0"}}, "extensions[0].content", "another major version"),
        ({"ignition": {}}, "extensions[0].content", "no version"),
        (
            {"ignition": {"version": "3.3.0"}, "storage": {"files": [{"path": "/x"}, {"path": "/etc/a"}]}},
            "extensions[0].content:storage.files[1]",
            "the bundle has a file there",
        ),
        (
            {"ignition": {"version": "3.3.0"}, "systemd": {"units": [{"name": "slipway-bootstrap.service"}]}},
            "extensions[0].content:systemd.units[0]",
            "the entry point's unit",
        ),
    ],
)
def test_extensions_that_are_refused(document: dict[str, Any], path: str, reason: str) -> None:
    """A conflict is named by its place in the user's own config."""
    assert refusals(_extension(document)) == [path], reason


def test_butane_is_refused() -> None:
    """Nothing is transpiled here: the person gets told what to do."""
    assert refusals(_extension(b"variant: flatcar", "application/yaml")) == ["extensions[0].media_type"]


@pytest.mark.parametrize("data", [b"{", b"[]", b"\xff", b"[" * 100_000])
def test_an_extension_that_can_not_be_read(data: bytes) -> None:
    """It is the bundle that is wrong, and the field is named."""
    with pytest.raises(BundleInvalid) as caught:
        config(_extension(data))
    assert caught.value.violations[0].path == "extensions[0].content"


def test_an_extension_of_very_many_values_is_refused_before_it_is_read() -> None:
    """Of 1.5 MiB of small values 80 MiB of objects would be made, in a process of 192 MiB."""
    document = b'{"ignition": {"version": "3.3.0"}, "x": [' + b'{"":1},' * 200_000 + b"1]}"
    tracemalloc.start()
    try:
        with pytest.raises(BundleInvalid) as caught:
            config(_extension(document))
        assert tracemalloc.get_traced_memory()[1] < 24 * 2**20
    finally:
        tracemalloc.stop()
    (violation,) = caught.value.violations
    assert violation.path == "extensions[0].content"
    assert violation.description == "has more than 100000 values"
