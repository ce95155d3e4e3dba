"""A file's path cannot be a folder of another entry: cloud-init stops there and loses all later files."""

import pytest

from slipway.bootstrapper.assembly import paths
from slipway.v1alpha1 import os_pb2 as ospb


def _os(*files: str, directories: tuple[str, ...] = ()) -> ospb.OperatingSystem:
    os = ospb.OperatingSystem()
    for path in files:
        os.files.add(path=path)
    for path in directories:
        os.directories.add(path=path)
    return os


@pytest.mark.parametrize(
    "os",
    [
        _os("/opt/a", "/opt/a/b"),
        _os("/opt/a/b", "/opt/a"),
        _os("/opt/a", "/opt/a-b", "/opt/a/b/c"),
        _os("/opt/a", directories=("/opt/a/b",)),
    ],
)
def test_a_file_is_no_folder(os: ospb.OperatingSystem) -> None:
    """The file is named with what lies in it, whatever their order and whatever sorts between them."""
    ((file, inner),) = paths.beneath_files(os)
    assert (file.path, inner.path.startswith("/opt/a/b")) == ("/opt/a", True)


def test_neighbours_and_directories_are_accepted() -> None:
    """A common beginning of the name is no folder, and a directory may hold files."""
    assert not list(paths.beneath_files(_os("/opt/a", "/opt/a-b", "/opt/ab", "/d/e", directories=("/d",))))
