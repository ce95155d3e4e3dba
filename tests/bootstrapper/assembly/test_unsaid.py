"""Parts of a spec that would have no effect: each is refused with its path, before a machine boots without it."""

import pytest
from google.protobuf.message import Message

from slipway.bootstrapper.assembly.neutral import normalise
from slipway.bootstrapper.assembly.subject import check
from slipway.contract.errors import SpecInvalid
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from tests.bootstrapper.assembly.subjects import subject

UNKNOWN_FIELD = b"\x82\x7d\x03abc"
"""Field number 2000 with three bytes, as a caller with a younger contract would send it."""

MIRRORS = "os: {containerd: {registries: [{host: a.example, endpoints:"


def refused(given: bootstrappb.Subject) -> set[str]:
    """Give the paths that are refused."""
    with pytest.raises(SpecInvalid) as caught:
        check(given)
    return {violation.path.removeprefix("SlipwayConfig/x: ") for violation in caught.value.violations}


@pytest.mark.parametrize("place", ["spec", "spec.os", "spec.os.users[0]", "cluster", "machine.target"])
def test_a_field_of_a_younger_contract_is_refused(place: str) -> None:
    """A parser keeps what it does not know in silence; a machine must not boot without it."""
    given = subject("os: {users: [{name: ann}]}")
    holders: dict[str, Message] = {
        "spec": given.spec,
        "spec.os": given.spec.os,
        "spec.os.users[0]": given.spec.os.users[0],
        "cluster": given.cluster,
        "machine.target": given.machine.target,
    }
    holders[place].MergeFromString(UNKNOWN_FIELD)
    given = bootstrappb.Subject.FromString(given.SerializeToString())
    assert [path.removeprefix("spec.") for path in refused(given)] == [place.removeprefix("spec.")]


@pytest.mark.parametrize("number", [0, 99], ids=["unspecified", "of a younger contract"])
def test_a_required_enum_says_something_that_is_known(number: int) -> None:
    """Neither the unspecified value nor a number that has no name is taken for anything."""
    given = subject("kubernetes: {node: {taints: {items: [{key: a, effect: NoSchedule}]}}}")
    given.spec.kubernetes.node.taints.items[0].effect = number  # type: ignore[assignment]  # it comes off the wire
    assert refused(given) == {"kubernetes.node.taints.items[0].effect"}


def test_an_optional_enum_may_not_have_an_unknown_value() -> None:
    """A value that is not known would use no feature, and nobody would see it."""
    given = subject("os: {disks: [{device: /dev/sdb, partitions: [{}]}]}")
    given.spec.os.disks[0].table_type = 99  # type: ignore[assignment]  # it comes off the wire
    assert refused(given) == {"os.disks[0].tableType"}


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("os: {users: [{name: ann, passwordHash: {}}]}", "os.users[0].passwordHash", "a password that is nothing"),
        ("kubernetes: {node: {kubeletConfiguration: {}}}", "kubernetes.node.kubeletConfiguration", "an empty document"),
        ("kubernetes: {controlPlane: {advertiseAddress: {}}}", "kubernetes.controlPlane.advertiseAddress", "nothing"),
        (
            "kubernetes: {etcd: {local: {arguments: [{name: a}]}}}",
            "kubernetes.etcd.local.arguments[0]",
            "an argument without value and segments",
        ),
        (
            f"{MIRRORS} [{{url: 'https://m.example', ca: {{segments: [{{text: x, encoding: Base64}}]}}}}]}}]}}}}",
            "os.containerd.registries[0].endpoints[0].ca.segments[0].encoding",
            "an encoding of a literal, wherever it stands",
        ),
        (
            f"{MIRRORS} [{{url: 'https://m.example'}}, {{url: 'https://m.example', skipVerify: true}}]}}]}}}}",
            "os.containerd.registries[0].endpoints[1].url",
            "two endpoints that containerd would take for one",
        ),
        (
            "os: {trustedCertificates: [{name: a, certificate: {data: bm9uc2Vuc2U=}}]}",
            "os.trustedCertificates[0].certificate.data",
            "bytes that are no certificate",
        ),
        (
            "os: {trustedCertificates: [{name: a, certificate: {segments: [{text: nonsense}]}}]}",
            "os.trustedCertificates[0].certificate.segments",
            "parts that are no certificate",
        ),
        ("os: {hostname: {name: {value: ''}}}", "os.hostname.name.value", "a name that is empty"),
        ("os: {disks: [{device: /dev/sdb, partitions: [{sizeMib: 0}]}]}", "os.disks[0].partitions[0].sizeMib", "zero"),
    ],
)
def test_what_says_nothing_is_refused(text: str, path: str, reason: str) -> None:
    """Each of these would have left the machine without what its author thinks to have written."""
    assert path in refused(subject(text)), reason


def test_a_text_has_one_spelling() -> None:
    """Segments that are all literal become the value, so that nobody who reads only the value loses them."""
    node = kubernetespb.NodeRegistration()
    node.node_ip.segments.add(text="192.0.")
    node.node_ip.segments.add(text="2.1")
    node.kubelet_arguments.add(name="v").segments.add(text="4")
    node.name.segments.add().fact.kind = contentpb.FACT_KIND_HOSTNAME
    normalise(node)
    assert (node.node_ip.value, len(node.node_ip.segments)) == ("192.0.2.1", 0)
    assert (node.kubelet_arguments[0].value, len(node.kubelet_arguments[0].segments)) == ("4", 0)
    assert not node.name.HasField("value")
