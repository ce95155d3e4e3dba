"""What is appended joins what is known, and leaves alone what is not."""

from typing import Any

import pytest

from slipway.sdk import testing
from slipway.v1alpha1 import os_pb2 as ospb
from tests.provisioners.ignition.configs import config, refusals


def _append(path: str, data: bytes, **kwargs: Any) -> ospb.File:
    file = testing.file(path, data, **kwargs)
    file.append = True
    return file


def test_append_leaves_mode_and_owner_alone() -> None:
    """An entry that only appends says neither, so that an existing file keeps its own."""
    (file,) = config(ospb.OperatingSystem(files=[_append("/etc/hosts", b"x")]))["storage"]["files"]
    assert file == {"path": "/etc/hosts", "append": [{"source": "data:,x"}]}


def test_append_joins_the_entry_of_the_same_path() -> None:
    """Ignition takes each path once, so what is known now is joined now; mode and owner are those of the first."""
    files = [testing.file("/etc/a", b"1", mode=0o600), _append("/etc/a", b"2"), _append("/etc/a", b"3", mode=0o600)]
    (file,) = config(ospb.OperatingSystem(files=files), "2.3.0")["storage"]["files"]
    assert (file["mode"], file["contents"]["source"]) == (0o600, "data:,123")
    files = [_append("/etc/a", b"1"), _append("/etc/a", b"2")]
    (file,) = config(ospb.OperatingSystem(files=files))["storage"]["files"]
    assert file["append"] == [{"source": "data:,12"}]


def test_append_to_a_download_is_refused() -> None:
    """A hash holds for one resource only."""
    file = testing.file("/a", b"")
    file.remote.urls.append("https://a")
    assert refusals(ospb.OperatingSystem(files=[file, _append("/a", b"x")])) == ["os.files[1]"]


@pytest.mark.parametrize(
    ("spec", "kwargs", "reason"),
    [
        ("3.3.0", {"mode": 0o600}, "a new file would be 0644"),
        ("3.3.0", {"owner": "ops"}, "a new file would be root's"),
        ("2.3.0", {}, "a new file would have no permissions at all"),
    ],
)
def test_append_that_can_not_be_right_is_refused(spec: str, kwargs: dict[str, Any], reason: str) -> None:
    """It is not known whether the file is there, so both cases must be right."""
    assert refusals(ospb.OperatingSystem(files=[_append("/etc/hosts", b"x", **kwargs)]), spec) == ["os.files[0]"], (
        reason
    )
