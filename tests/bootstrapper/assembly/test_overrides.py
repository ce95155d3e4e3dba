"""Tests of the differences by role: what is merged, what is replaced, and what excludes each other then."""

from typing import Any

import pytest
from google.protobuf import text_format
from hypothesis import HealthCheck, given, settings

from slipway.bootstrapper.assembly.overrides import effective_spec
from slipway.bootstrapper.assembly.subject import check
from slipway.contract.errors import SpecInvalid
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.assembly.subjects import subject
from tests.sdk.contract.messages import messages


def merged(text: str, role: clusterpb.Role.ValueType = clusterpb.ROLE_INIT) -> specpb.MachineBootstrapSpec:
    """Give the spec of a role."""
    return effective_spec(text_format.Parse(text, specpb.MachineBootstrapSpec()), role)


@pytest.mark.parametrize(
    ("reason", "base", "over", "expected"),
    [
        ("a scalar is replaced", 'time_zone {name: "UTC"}', 'time_zone {name: "CET"}', 'time_zone {name: "CET"}'),
        ("a default that is set replaces, too", "ntp {enabled: true}", "ntp {enabled: false}", "ntp {enabled: false}"),
        ("messages are merged", 'ntp {servers: "a"}', "ntp {enabled: true}", 'ntp {servers: "a" enabled: true}'),
        ("an empty message is set", "", "ntp {}", "ntp {}"),
        ("lists are replaced", 'ntp {servers: "a" servers: "b"}', 'ntp {servers: "c"}', 'ntp {servers: "c"}'),
        ("what is not said stays", 'ntp {servers: "a"}', "swaps {}", 'ntp {servers: "a"} swaps {}'),
        (
            "a text is one value",
            'hostname {name {value: "a"}}',
            'hostname {name {segments {text: "b"}}}',
            'hostname {name {segments {text: "b"}}}',
        ),
    ],
)
def test_merging(reason: str, base: str, over: str, expected: str) -> None:
    """Messages are merged, everything else is replaced, and nothing is left of `init` and `join`."""
    found = merged(f"os {{ {base} }} init {{ os {{ {over} }} }} join {{ os {{ ntp {{ pools: 'never' }} }} }}")
    assert found == text_format.Parse(f"os {{ {expected} }}", specpb.MachineBootstrapSpec()), reason


def test_each_role_has_its_own() -> None:
    """The first machine gets `init`; a further control plane and a worker get `join`."""
    text = 'init { os { time_zone { name: "A" } } } join { os { time_zone { name: "B" } } }'
    names = [merged(text, role).os.time_zone.name for role in (1, 2, 3)]
    assert names == ["A", "B", "B"]


@given(one=messages(contentpb.Content), two=messages(contentpb.Content))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_content_is_replaced_as_a_whole(one: contentpb.Content, two: contentpb.Content) -> None:
    """Half of one policy and half of another would be neither."""
    spec = specpb.MachineBootstrapSpec()
    spec.kubernetes.control_plane.audit.policy.CopyFrom(one)
    spec.init.kubernetes.control_plane.audit.policy.CopyFrom(two)
    assert effective_spec(spec, clusterpb.ROLE_INIT).kubernetes.control_plane.audit.policy == two


def test_durations_and_oneofs_are_replaced() -> None:
    """A shorter time leaves no nanoseconds behind; another source of a secret takes the place of the first."""
    spec = specpb.MachineBootstrapSpec()
    spec.kubernetes.timeouts.tls_bootstrap.nanos = 5
    spec.init.kubernetes.timeouts.tls_bootstrap.seconds = 7
    spec.kubernetes.discovery.token.token.value = "secret"
    spec.init.kubernetes.discovery.token.token.secret_ref.name = "s"
    found = effective_spec(spec, clusterpb.ROLE_INIT).kubernetes
    assert found.timeouts == kubernetespb.Timeouts(tls_bootstrap={"seconds": 7})
    assert found.discovery.token.token.WhichOneof("source") == "secret_ref"


def test_parts_that_exclude_each_other_are_refused_after_merging() -> None:
    """Each half is sound, and the spec of the first machine is not."""
    subject = bootstrappb.Subject()
    subject.cluster.CopyFrom(clusterpb.Cluster(name="c", kubernetes_version="v1.34.2", endpoint={"host": "h"}))
    subject.machine.CopyFrom(clusterpb.Machine(name="m", role=clusterpb.ROLE_INIT))
    subject.spec.kubernetes.etcd.local.data_dir = "/var/lib/etcd"
    external: Any = subject.spec.init.kubernetes.etcd.external
    external.endpoints.append("https://etcd.example:2379")
    for name in ("ca_file", "cert_file", "key_file"):
        setattr(external, name, "/etc/etcd/x")
    with pytest.raises(SpecInvalid) as caught:
        check(subject)
    told = [violation.path for violation in caught.value.violations]
    assert told == ["spec.kubernetes.etcd", "spec.init.kubernetes.etcd"]
    subject.machine.role = clusterpb.ROLE_WORKER
    assert check(subject)


def test_taints_are_one_value() -> None:
    """Set and without items they say that there are none, also where the spec for all roles has some."""
    text = 'kubernetes {node {taints {items {key: "x"}}}} init {kubernetes {node {taints {}}}}'
    assert not merged(text).kubernetes.node.taints.items
    assert merged(text).kubernetes.node.HasField("taints")
    assert len(merged(text, clusterpb.ROLE_WORKER).kubernetes.node.taints.items) == 1


def test_overrides_replace_lists_and_merge_messages_and_only_for_their_role() -> None:
    """`init` counts for the first machine, `join` for all others."""
    text = """
kubernetes:
  node: {labels: [{name: a, value: base}], criSocket: unix:///base}
init:
  kubernetes: {node: {labels: [{name: b, value: init}]}}
join:
  kubernetes: {node: {criSocket: unix:///join}}
"""
    first = check(subject(text, clusterpb.ROLE_INIT)).spec.kubernetes.node
    other = check(subject(text)).spec.kubernetes.node
    assert ([label.name for label in first.labels], first.cri_socket) == (["b"], "unix:///base")
    assert ([label.name for label in other.labels], other.cri_socket) == (["a"], "unix:///join")
