"""Items in relation: a seed gives the same ones each time, and decoders and comparisons see what they come to."""

from random import Random

import pytest

from slipway.conformance.compare import compare
from slipway.conformance.decoders.ignition_places import Places
from slipway.conformance.generated import seeds
from slipway.conformance.relations import relations
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb


def _bundle() -> bundlepb.BootstrapBundle:
    system = ospb.OperatingSystem()
    system.mounts.add(source="/dev/sdb1", path="/srv/data", options=["noatime", "nofail"])
    system.users.add(name="keeper", groups=["operators"])
    system.groups.add(name="operators")
    for name in ("a", "b", "c"):
        file = system.files.add(path=f"/etc/{name}", owner="root", group="root", mode=0o644)
        file.content.segments.add(data=name.encode())
    return bundlepb.BootstrapBundle(os=system)


def test_a_seed_gives_the_same() -> None:
    """A run that is repeated has the same bundles; another seed gives others."""
    first, again = ([relations(_bundle(), chance) for chance in seeds(3, 8)] for _ in range(2))
    assert first == again
    assert first != [relations(_bundle(), chance) for chance in seeds(4, 8)]


def test_what_is_set_in_relation() -> None:
    """Among some bundles there is each kind: below a mount, in a home, the beginning of another, contents, owners."""
    made = [change for number in range(200) for change in relations(_bundle(), Random(number))]
    values = {change.path: set() for change in made}
    for change in made:
        values[change.path].add(str(change.value))
    assert {"/srv/data/c", "/srv/data/a/b/c", "/home/keeper/c"} <= values["os.files[2].path"]
    assert "/dev/sdb10" in values["os.mounts[0].source"]
    assert "['noatime']" in values["os.mounts[0].options"]
    assert {"root", "keeper"} <= values["os.files[0].owner"]
    assert any("b" in text and "a" not in text.replace("data", "") for text in values["os.files[0].content"])


@pytest.mark.parametrize(
    ("path", "hidden", "reason"),
    [
        ("/etc/a", False, "no mount is there"),
        ("/srv/data/a", False, "it is written to what is mounted there"),
        ("/srv/late/a", True, "it is mounted by a unit alone"),
        ("/srv/data/late/a", True, "the deeper mount counts"),
        ("/srv/database", False, "another folder that begins so"),
    ],
)
def test_places_of_ignition(path: str, *, hidden: bool, reason: str) -> None:
    """A file is seen after the boot where it was written to what is mounted there."""
    filesystems = [{"device": "/dev/sdb1", "path": "/srv/data", "label": "data"}]
    mounts = [
        ospb.Mount(source="LABEL=data", path="/srv/data/"),
        ospb.Mount(source="/dev/sdb10", path="/srv/late"),
        ospb.Mount(source="/dev/sdc", path="/srv/data/late"),
    ]
    places = Places({"filesystems": filesystems}, mounts)
    assert places.is_hidden({"path": path}) is hidden, reason
    assert places.path({"path": path}) == path


def test_places_of_the_old_form() -> None:
    """Nodes name their filesystem, and their path begins at its root."""
    filesystems = [{"name": "fs0", "mount": {"device": "/dev/sdb1"}}]
    places = Places({"filesystems": filesystems}, [ospb.Mount(source="/dev/sdb1", path="/srv/data")])
    entry = {"filesystem": "fs0", "path": "/a"}
    assert places.path(entry) == "/srv/data/a"
    assert not places.is_hidden(entry)
    assert places.is_hidden({"filesystem": "root", "path": "/srv/data/a"})


@pytest.mark.parametrize(
    ("there", "holds", "reason"),
    [
        (["b=2", "a=1", "c=3"], True, "as they stand, the second one once"),
        (["a=1", "b=2", "c=3"], False, "the last of two counts"),
    ],
)
def test_the_order_of_kernel_arguments(there: list[str], *, holds: bool, reason: str) -> None:
    """Arguments come in their order; what is there twice means what it means once."""
    bundle, state = bundlepb.BootstrapBundle(), statepb.MachineState(features=["os.kernel.arguments"])
    for argument in ("b=2", "a=1", "b=2", "c=3"):
        bundle.os.kernel_arguments.add(argument=argument)
    for argument in there:
        state.os.kernel_arguments.add(argument=argument)
    assert (compare(bundle, state, windows=False).problems == []) is holds, reason
