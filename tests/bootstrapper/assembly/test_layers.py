"""Tests of where the parts of a merged spec were written."""

import pytest
from google.protobuf import text_format

from slipway.bootstrapper.assembly.layers import Layers, with_origins
from slipway.bootstrapper.assembly.overrides import effective_spec
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import spec_pb2 as specpb

SPEC = """
os { ntp { enabled: true servers: "a" } files { path: "/a" } hostname { name { value: "h" } } }
kubernetes { etcd { local { data_dir: "/d" } } node { cri_socket: "s" } }
init { os { ntp { servers: "b" pools: "c" } files { path: "/b" } time_zone { name: "UTC" } }
       kubernetes { etcd { local { image_tag: "t" } } } }
"""


@pytest.mark.parametrize(
    ("reason", "path", "expected"),
    [
        ("said below only", "os.ntp.enabled", ["os.ntp.enabled"]),
        ("said above only", "os.ntp.pools[0]", ["init.os.ntp.pools[0]"]),
        ("a list is replaced", "os.ntp.servers[0]", ["init.os.ntp.servers[0]"]),
        ("a list of items, too", "os.files[0].path", ["init.os.files[0].path"]),
        ("merged of both", "os.ntp", ["os.ntp", "init.os.ntp"]),
        ("merged deep down", "kubernetes.etcd.local", ["kubernetes.etcd.local", "init.kubernetes.etcd.local"]),
        ("a field deep down", "kubernetes.etcd.local.image_tag", ["init.kubernetes.etcd.local.image_tag"]),
        ("said by neither", "kubernetes.etcd.external", ["kubernetes.etcd.external", "init.kubernetes.etcd.external"]),
        ("an item of one layer", "os.hostname.name", ["os.hostname.name"]),
        ("an item of the other", "os.time_zone", ["init.os.time_zone"]),
        ("nothing is said anew of it", "target.os_family", ["target.os_family"]),
    ],
)
def test_a_field_is_where_it_was_said(reason: str, path: str, expected: list[str]) -> None:
    """The later one where both said it, and both where it takes the two to make it."""
    spec = text_format.Parse(SPEC, specpb.MachineBootstrapSpec())
    assert Layers(spec, clusterpb.ROLE_INIT).written(path) == expected, reason


def test_a_role_without_differences_has_one_layer() -> None:
    """There is nothing to tell apart for a worker."""
    spec = text_format.Parse(SPEC, specpb.MachineBootstrapSpec())
    assert Layers(spec, clusterpb.ROLE_WORKER).written("os.ntp") == ["os.ntp"]


@pytest.mark.parametrize(
    ("reason", "path", "feature", "expected"),
    [
        ("a field of the lower", "os.ntp.enabled", "", ["spec.os.ntp"]),
        ("a field of the upper", "os.ntp.pools", "", ["spec.init.os.ntp"]),
        ("the feature names the field", "os.ntp", "os.ntp.enabled", ["spec.os.ntp"]),
        ("the whole", "os.ntp", "os.ntp", ["spec.os.ntp", "spec.init.os.ntp"]),
        ("what was made of it", "os.files[4]", "os.files", ["spec.os.ntp", "spec.init.os.ntp"]),
    ],
)
def test_a_merged_item_has_two_origins(reason: str, path: str, feature: str, expected: list[str]) -> None:
    """A refusal finds the one that it is about, and keeps who made what."""
    spec = with_origins(text_format.Parse(SPEC, specpb.MachineBootstrapSpec()))
    merged = effective_spec(spec, clusterpb.ROLE_INIT)
    origin = diagnosticpb.Origin(path=merged.os.ntp.origin.path, made_by=["linux.ntp"])
    found = Layers(spec, clusterpb.ROLE_INIT).origins(path, origin, feature)
    assert [one.path for one in found] == expected, reason
    assert all(one.made_by == ["linux.ntp"] for one in found)


def test_other_origins_stay() -> None:
    """An item of one layer has its own place."""
    spec = with_origins(text_format.Parse(SPEC, specpb.MachineBootstrapSpec()))
    origin = diagnosticpb.Origin(document="Kind/x", path="spec.os.ntp")
    assert Layers(spec, clusterpb.ROLE_INIT).origins("os.ntp.pools", origin) == [origin]


def test_an_origin_is_replaced_as_a_whole() -> None:
    """The document of one and the path of another would be a place that is not there."""
    spec = specpb.MachineBootstrapSpec()
    spec.os.ntp.origin.CopyFrom(diagnosticpb.Origin(document="Kind/x", path="spec.a"))
    spec.init.os.ntp.origin.path = "spec.b"
    found = effective_spec(spec, clusterpb.ROLE_INIT).os.ntp.origin
    assert found == diagnosticpb.Origin(path="spec.b")


def test_what_a_profile_adds_to_a_field_of_the_user_is_named_beside_it() -> None:
    """A part that only controls have set has them as its place; of a merged field both are given, the user's last."""
    layers = Layers(specpb.MachineBootstrapSpec(), clusterpb.ROLE_INIT)
    layers.controls = {"kubernetes.control_plane.encryption": ["p/1"]}
    layers.shared = {"kubernetes.node.kubelet_configuration": ["p/2", "p/3"]}
    own = diagnosticpb.Origin(path="spec.x")
    exact = layers.origins("intent.kubernetes.control_plane.encryption.configuration", own)
    assert [origin.path for origin in exact] == ["p/1"]
    by_feature = layers.origins("intent.kubernetes.control_plane", own, "kubernetes.control_plane.encryption")
    assert [origin.path for origin in by_feature] == ["p/1", "spec.x"]
    merged = layers.origins("intent.kubernetes.node.kubelet_configuration", own)
    assert [(origin.document, origin.path) for origin in merged] == [("compliance", "p/2,3"), ("", "spec.x")]
    assert [origin.path for origin in layers.origins("intent.kubernetes.control_plane", own, "other")] == ["spec.x"]
