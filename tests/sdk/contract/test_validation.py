"""Tests of the rules that options.proto states: each is found with its path, and no message repeats a value."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from slipway.contract.validation import violations
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.sdk.contract.messages import messages

MACHINE = {"name": "m", "role": clusterpb.ROLE_WORKER}


def text(value: str) -> contentpb.MachineText:
    """Give a text that is known now."""
    return contentpb.MachineText(value=value)


@pytest.mark.parametrize(
    ("reason", "message", "expected"),
    [
        ("nothing wrong", clusterpb.Machine(**MACHINE), []),
        ("required and not set", clusterpb.Machine(role=clusterpb.ROLE_INIT), [("name", "is required")]),
        ("required and empty", clusterpb.Machine(name="", role=1), [("name", "must not be empty")]),
        ("required list that is empty", ospb.RemoteContent(), [("urls", "is required")]),
        ("required entry that is empty", ospb.RemoteContent(urls=[""]), [("urls[0]", "must not be empty")]),
        (
            "required enum that says nothing",
            clusterpb.Machine(name="m", role=clusterpb.ROLE_UNSPECIFIED),
            [("role", "must not be the unspecified value")],
        ),
        (
            "a number that the enum does not know",
            clusterpb.Machine(name="m", role=99),
            [("role", "is a value that this version of Slipway does not know")],
        ),
        (
            "grammar",
            clusterpb.Machine(**MACHINE, kubernetes_version="latest"),
            [("kubernetes_version", "must be a version such as v1.34.2")],
        ),
        (
            "grammar of an entry",
            ospb.Ntp(servers=["ok.example", "not ok"]),
            [("servers[1]", "must be a host name or an address")],
        ),
        (
            "a unit to follow that is none",
            planpb.EntryPoint(after_units=["a.service", "b service\nc"]),
            [("after_units[1]", "must be a unit name with suffix, such as containerd.service")],
        ),
        (
            "a unit that is no service",
            planpb.EntryPoint(unit_name="a.timer"),
            [("unit_name", 'must be the name of a unit that ends in ".service"')],
        ),
        ("an optional text may be empty", kubernetespb.Label(name="a", value=""), []),
        (
            "grammar of a text that is known now",
            ospb.Hostname(name=text("no_name")),
            [("name.value", "must be a host name")],
        ),
        (
            "a text that the machine completes has no grammar yet",
            ospb.Hostname(
                name=contentpb.MachineText(segments=[contentpb.TextSegment(fact=contentpb.MachineFact(kind=1))])
            ),
            [],
        ),
        (
            "grammar of a content",
            ospb.TrustedCertificate(name="a", certificate=contentpb.Content(text="no pem")),
            [("certificate.text", "must be one or more X.509 certificates in PEM")],
        ),
        (
            "grammar of a content in bytes",
            ospb.TrustedCertificate(name="a", certificate=contentpb.Content(data=b"\xff")),
            [("certificate.data", "must be one or more X.509 certificates in PEM")],
        ),
        (
            "too long by default",
            ospb.Sysctl(name="a.b", value="x" * 1025),
            [("value", "has 1025 bytes; at most 1024 are allowed")],
        ),
        (
            "length is counted in bytes",
            kubernetespb.Label(name="a", value="ü" * 32),
            [("value", "has 64 bytes; at most 63 are allowed")],
        ),
        (
            "too many by default",
            clusterpb.Cluster(name="c", pod_cidrs=["10.0.0.0/8"] * 9),
            [("pod_cidrs", "has 9 entries; at most 8 are allowed")],
        ),
        ("too small", clusterpb.Endpoint(host="h", port=0), [("port", "must be at least 1")]),
        ("too large", clusterpb.Endpoint(host="h", port=65536), [("port", "must be at most 65535")]),
        ("bounds themselves", clusterpb.Endpoint(host="h", port=65535), []),
        (
            "the same twice",
            ospb.OperatingSystem(groups=[ospb.Group(name="a"), ospb.Group(name="b"), ospb.Group(name="a")]),
            [("groups[2]", "has the same name as groups[0]")],
        ),
        (
            "a negative duration",
            kubernetespb.Timeouts(tls_bootstrap={"seconds": -1}),
            [("tls_bootstrap", "must not be negative")],
        ),
        (
            "deep inside",
            specpb.MachineBootstrapSpec(
                init=specpb.RoleOverrides(os=ospb.OperatingSystem(files=[ospb.File(path="x")]))
            ),
            [("init.os.files[0].path", "must be an absolute path")],
        ),
    ],
)
def test_rules(reason: str, message: Any, expected: list[tuple[str, str]]) -> None:
    """Each rule that is broken is told once, at its place."""
    found = [(violation.path, violation.description) for violation in violations(message)]
    assert [path for path, _ in found] == [path for path, _ in expected], reason
    for (_, told), (_, wanted) in zip(found, expected, strict=True):
        assert told.startswith(wanted), reason


def test_paths_can_begin_elsewhere() -> None:
    """The caller says where the message stands."""
    assert [violation.path for violation in violations(clusterpb.Endpoint(), path="cluster.endpoint")] == [
        "cluster.endpoint.host"
    ]


@given(subject=messages(bootstrappb.Subject))
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
def test_anything_can_be_checked(subject: bootstrappb.Subject) -> None:
    """No message is too broken to be told so, and what is told is made of paths and fixed words."""
    for violation in violations(subject, path="subject"):
        assert violation.path.startswith("subject.")
        assert violation.description.startswith(("must ", "is ", "has "))
        assert violation.description.isprintable()


def test_a_text_that_is_not_at_hand_breaks_no_grammar() -> None:
    """What stands in a Secret or a ConfigMap is judged when it is there."""
    for source in ("secret_ref", "config_map_ref"):
        content = contentpb.Content(**{source: {"name": "n", "key": "k"}})
        system = ospb.OperatingSystem(trusted_certificates=[ospb.TrustedCertificate(certificate=content)])
        assert [violation.path for violation in violations(system)] == ["trusted_certificates[0].name"]
