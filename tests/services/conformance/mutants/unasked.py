"""Mutants that do what nobody asked for, which destroys, opens or starts something."""

from collections.abc import Callable, Iterator, Sequence

from slipway.provisioners.cloud_init.render import CloudInit
from slipway.provisioners.ignition.render import IgnitionProvisioner
from slipway.sdk import Provisioner
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.services.conformance.bent import Bent, Request
from tests.services.conformance.mutants.control_plane import NewestTalos
from tests.services.conformance.mutants.mutant import Mutant

_CORE, _EXTENDED = ("RND-018.core-items",), ("RND-019.extended-items",)


class OneIgnition(IgnitionProvisioner):
    """One format is enough to see what is wrong."""

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        return super().formats()[:1]


def system(
    change: Callable[[ospb.OperatingSystem], object], provisioner: Callable[[], Provisioner] = CloudInit
) -> Bent:
    """Change what is asked for of the system."""
    return asked(lambda request: change(request.bundle.os), provisioner)


def asked(change: Callable[[Request], object], provisioner: Callable[[], Provisioner] = CloudInit) -> Bent:
    """Change what is asked for."""

    async def before(request: Request, _context: object) -> None:
        change(request)

    return Bent(provisioner=provisioner, before=before)


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("every disk is overwritten", _EXTENDED, system(_every_disk))
    yield Mutant("every disk is overwritten by Ignition", _EXTENDED, system(_every_disk, OneIgnition))
    yield Mutant("every filesystem is overwritten", _EXTENDED, system(_every_filesystem))
    yield Mutant("every filesystem is overwritten by Ignition", _EXTENDED, system(_every_filesystem, OneIgnition))
    yield Mutant("a filesystem of its own", _CORE, system(own_filesystem))
    yield Mutant("a job of its own", _CORE, system(own_file))
    yield Mutant("a job of its own by Ignition", _CORE, system(own_file, OneIgnition))
    yield Mutant(
        "a service of its own",
        _CORE,
        system(own_unit, OneIgnition),
        ("EXE",),
        why="it is started without an entry point, too",
    )
    yield Mutant("a taint of its own", _CORE, asked(_own_taint, NewestTalos))
    yield Mutant("a label of its own", _CORE, asked(_own_label, NewestTalos))


def _every_disk(os: ospb.OperatingSystem) -> None:
    for disk in os.disks:
        disk.overwrite = True


def _every_filesystem(os: ospb.OperatingSystem) -> None:
    for filesystem in os.filesystems:
        filesystem.overwrite = True


def own_filesystem(os: ospb.OperatingSystem) -> None:
    os.filesystems.add(device="/dev/sdz", format="ext4")


def own_file(os: ospb.OperatingSystem) -> None:
    file = os.files.add(path="/etc/cron.d/upkeep", owner="root", group="root", mode=0o644)
    file.content.segments.add(data=b"* * * * * root id\n")


def own_unit(os: ospb.OperatingSystem) -> None:
    text = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
    os.systemd_units.add(name="upkeep.service", enabled=True, contents=text)


def _own_taint(request: Request) -> None:
    taints = request.bundle.intent.kubernetes.node.taints.items
    taints.add(key="example.com/own", effect=kubernetespb.TAINT_EFFECT_NO_EXECUTE)


def _own_label(request: Request) -> None:
    request.bundle.intent.kubernetes.node.labels.add(name="example.com/own", value="1")
