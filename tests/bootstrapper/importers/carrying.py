"""Carries a KubeadmConfigSpec over, for the tests of what becomes of its fields."""

from collections.abc import Iterator
from textwrap import dedent, indent

from google.protobuf.message import Message

from slipway.bootstrapper.assembly.subject_rules import rule_violations
from slipway.bootstrapper.importers.kubeadm_import import ImportResult, Surroundings
from slipway.bootstrapper.importers.lone_config import import_kubeadm_config

BETA1, BETA2 = "v1beta1", "v1beta2"


def document(spec: str, *, version: str = BETA2, kind: str = "KubeadmConfig") -> str:
    """Give a document with this KubeadmConfigSpec."""
    body = dedent(spec).strip("\n")
    if kind == "KubeadmControlPlane":
        head = f"apiVersion: controlplane.cluster.x-k8s.io/{version}\nkind: {kind}\nmetadata: {{name: x}}\n"
        return head + "spec:\n  version: v1.33.1\n  kubeadmConfigSpec:\n" + indent(body, "    ") + "\n"
    head = f"apiVersion: bootstrap.cluster.x-k8s.io/{version}\nkind: {kind}\nmetadata: {{name: x}}\n"
    return head + "spec:\n" + indent(body, "  ") + "\n"


def carried(spec: str, *, version: str = BETA2, kind: str = "KubeadmConfig", **known: object) -> ImportResult:
    """Carry over a spec; what comes out must fit the contract's own rules."""
    result = import_kubeadm_config(
        document(spec, version=version, kind=kind),
        Surroundings(**known),  # type: ignore[arg-type]
        file="f.yaml",
    )
    assert rule_violations(result.spec) == []
    return result


def without_origins(message: Message) -> Message:
    """Give a copy without any origin."""
    copy = type(message)()
    copy.CopyFrom(message)
    for each in walk(copy):
        if "origin" in each.DESCRIPTOR.fields_by_name:
            each.ClearField("origin")
    return copy


def walk(message: Message) -> Iterator[Message]:
    """Give a message and all below it."""
    yield message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for each in value if field.is_repeated else [value]:
                yield from walk(each)


def codes(result: ImportResult) -> list[str]:
    """Give the codes of the diagnostics."""
    return [diagnostic.code for diagnostic in result.diagnostics]


IGNITION = "format: ignition\n"
