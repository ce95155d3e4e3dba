"""Pairs of what cases say, places with files in them, and items whose names differ in capital letters only."""

from slipway.conformance import requests
from slipway.conformance.answer import Answer
from slipway.conformance.labels import is_too_long
from slipway.conformance.pairs import labels, pairs, places, twins
from slipway.conformance.trial import Trial
from slipway.conformance.v1alpha1 import case_pb2 as casepb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

INFO = provisionerpb.FormatInfo(
    format="x",
    kubernetes_input=provisionerpb.KUBERNETES_INPUT_PLAN,
    os_families=[clusterpb.OS_FAMILY_LINUX],
    features=[provisionerpb.FeatureSupport(id="os.files")],
)
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPnrT3L1fPq4J1rpnRDiyXbmDjI4fnqnd0FrCNLVCzlS operator@example.com"


def trial(**parts: object) -> Trial:
    """Give a case with such an operating system, as it is asked for."""
    case = casepb.Case(name="case", bundle=bundlepb.BootstrapBundle(os=ospb.OperatingSystem(**parts)))  # type: ignore[arg-type]
    request = requests.merged(requests.smallest(INFO), case.bundle, INFO)
    return Trial(case, request, Answer(code="OK"), ())


def test_pairs_of_fields() -> None:
    """Each two fields of a kind of item are there together once, with what the other case has besides."""
    with_keys = trial(users=[ospb.User(name="operator", ssh_authorized_keys=[KEY])])
    without_home = trial(users=[ospb.User(name="operator", no_create_home=True)])
    with_group = trial(
        groups=[ospb.Group(name="operators")], users=[ospb.User(name="operator", primary_group="operators")]
    )
    made = [variation.bundle.os for variation in pairs([with_keys, without_home, with_group], INFO)]
    fields = [{field.name for field, _ in system.users[0].ListFields()} - {"name"} for system in made]
    assert fields == [
        {"ssh_authorized_keys", "no_create_home"},
        {"ssh_authorized_keys", "primary_group"},
        {"no_create_home", "primary_group"},
    ]
    assert [[group.name for group in system.groups] for system in made] == [[], ["operators"], ["operators"]]


def test_pairs_that_are_invalid() -> None:
    """What breaks a rule together is no case: an item of two contents, a name that is there twice."""
    group = [ospb.Group(name="operators")]
    both = [
        trial(groups=group, users=[ospb.User(name="operator", groups=["operators"])]),
        trial(groups=group, users=[ospb.User(name="operator", primary_group="operators")]),
    ]
    (made,) = pairs(both, INFO)
    assert [group.name for group in made.bundle.os.groups] == ["operators"]


def test_files_in_places() -> None:
    """A file lies below each mount and home, however a path may be written, and in a place that begins like it."""
    mount = trial(mounts=[ospb.Mount(source="LABEL=data", path="/data")])
    home = trial(users=[ospb.User(name="operator")])
    elsewhere = trial(users=[ospb.User(name="operator", home="/srv/operator")])
    none = trial(users=[ospb.User(name="operator", no_create_home=True)])
    made = [variation.bundle.os for variation in places([mount, home, elsewhere, none])]
    assert [system.files[-1].path for system in made] == [
        "/data/notice", "/data/notice", "/data-beside/notice",
        "/home/operator/notice", "/home/operator-beside/notice", "/srv/operator/notice", "/srv/operator-beside/notice",
    ]  # fmt: skip
    assert [mount.path for system in made for mount in system.mounts] == ["/data", "/data/", "/data"]
    assert [user.home for system in made for user in system.users] == ["", "", "/srv/operator", "/srv/operator"]


def test_names_in_other_letters() -> None:
    """There is another one of each kind, once; what a machine has once has none."""
    cases = [
        trial(files=[requests.file("a", b"x")]),
        trial(files=[requests.file("b", b"x")]),
        trial(hostname=ospb.Hostname(name=contentpb.MachineText(value="worker"))),
    ]
    (made,) = twins(cases)
    assert [file.path for file in made.bundle.os.files[-2:]] == ["/var/lib/conformance/a", "/var/lib/conformance/A"]


def test_labels_at_their_end() -> None:
    """Each kind has a label as long as it may be and one that is a byte longer, whether overwritten or not."""
    unlabelled = trial(filesystems=[ospb.Filesystem(device="/dev/sdb1", format="ext4")])
    labelled = trial(filesystems=[ospb.Filesystem(device="/dev/sdb1", format="ext4", label="data")])
    made = list(labels([unlabelled, labelled]))
    filesystems = [variation.bundle.os.filesystems[0] for variation in made]
    assert [is_too_long(filesystem) for filesystem in filesystems] == [False, True] * (len(made) // 2)
    assert {filesystem.format for filesystem in filesystems} >= {"ext4", "xfs", "vfat", "swap", "btrfs"}
    assert {filesystem.overwrite for filesystem in filesystems} == {False, True}
    assert not list(labels([unlabelled]))
