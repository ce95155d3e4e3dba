"""A filesystem for a folder that the image has something in: only Ignition can mount it."""

from typing import cast

import pytest

from slipway.provisioners.ignition import storage
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb


class _Refusals:
    """Collects the paths of refusals."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def refuse(self, path: str, *_: str, **__: str) -> None:
        """Take one."""
        self.paths.append(path)


@pytest.mark.parametrize("source", ["LABEL=v", "/dev/disk/by-label/v", ""])
@pytest.mark.parametrize("device", ["/dev/vdb", "/dev/vdb1"])
@pytest.mark.parametrize(("path", "made"), [("/var", True), ("/var/", True), ("/srv", False)])
def test_what_nothing_else_can_mount_is_made(source: str, device: str, path: str, made: bool) -> None:
    """Of an imported config, as today; elsewhere nothing that is there may be lost."""
    system = ospb.OperatingSystem(
        disks=[ospb.Disk(device="/dev/vdb", partitions=[ospb.Partition()])] if device[-1] == "1" else [],
        filesystems=[ospb.Filesystem(device=device, format="ext4", label="v")],
        mounts=[ospb.Mount(source=source or device, path=path)],
    )
    for allowed, is_made in ((storage.over_image(system), made), (frozenset[str](), False)):
        refusals = _Refusals()
        ctx = cast("RenderContext", refusals)
        storage.disks(system, ctx, spec2=False, allowed=allowed)
        storage.Filesystems(system, ctx, spec2=False, allowed=allowed)
        assert refusals.paths == ([] if is_made else ["os.disks[0]" if system.disks else "os.filesystems[0]"])
