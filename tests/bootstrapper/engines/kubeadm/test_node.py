"""Node registration: names, labels, taints and arguments, literal or known only on the machine."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from slipway.v1alpha1 import content_pb2 as contentpb

NODE = "intent { kubernetes { node { %s } } }"
PROVIDER = "execution { literal_commands: true }"
FACT = "segments { fact { kind: FACT_KIND_%s } }"
TEXT = 'segments { text: "%s" }'


def registration(machines: Any, *texts: str, role: str = "ROLE_WORKER", **facts: Any) -> dict[str, Any]:
    """Give kubeadm's registration of a node."""
    documents = list(yaml.safe_load_all(machines.config(role, *texts, **facts)))
    found: dict[str, Any] = documents[-1]["nodeRegistration"]
    return found


def arguments(machines: Any, *texts: str) -> dict[str, str]:
    """Give the kubelet's arguments."""
    return {one["name"]: one["value"] for one in registration(machines, *texts)["kubeletExtraArgs"]}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ('value: "node-1"', "node-1"),
        (FACT % "LOCAL_HOSTNAME", "fact-2"),
        (TEXT % "a-" + FACT % "INSTANCE_ID" + TEXT % ".b", "a-fact-3.b"),
        (TEXT % "a" + TEXT % "b", "ab"),
    ],
)
def test_names_literal_and_from_facts(machines: Any, name: str, expected: str) -> None:
    """A name of one fact, of several parts, or of none."""
    assert registration(machines, NODE % f"name {{ {name} }}")["name"] == expected


def test_a_fact_is_a_segment_of_the_file(machines: Any) -> None:
    """One fact is a JSON string of its own; a part of a text is raw inside quotes; nothing else is touched."""
    text = (
        f"name {{ {FACT % 'HOSTNAME'} }} "
        f"kubelet_arguments {{ name: 'v' {TEXT % 'aws:///'} {FACT % 'REGION'} {TEXT % '/'} {FACT % 'INSTANCE_ID'} }}"
    )
    segments = machines.plan("ROLE_WORKER", NODE % text).files[-1].content.segments
    assert [(one.fact.kind, one.encoding) for one in segments if one.HasField("fact")] == [
        (contentpb.FACT_KIND_REGION, contentpb.SPLICE_ENCODING_RAW),
        (contentpb.FACT_KIND_INSTANCE_ID, contentpb.SPLICE_ENCODING_RAW),
        (contentpb.FACT_KIND_HOSTNAME, contentpb.SPLICE_ENCODING_JSON_STRING),
    ]
    assert arguments(machines, NODE % text)["v"] == "aws:///fact-8/fact-3"


def test_text_of_an_extension_stays_as_it_was_written(machines: Any) -> None:
    """Its program finds its own text, unescaped, between quotes."""
    template = 'extension { id: "cloud-init.slipway.dev/jinja" text: "{{ ds.meta_data[\\"x\\"] }}" }'
    segments = machines.plan("ROLE_WORKER", NODE % f"name {{ segments {{ {template} }} }}").files[-1].content.segments
    (index,) = [number for number, one in enumerate(segments) if one.HasField("extension")]
    assert segments[index].extension.text == '{{ ds.meta_data["x"] }}'
    assert segments[index - 1].data.endswith(b"name: '")
    assert segments[index + 1].data.startswith(b"'\n")


@pytest.mark.parametrize(
    ("taints", "expected"),
    [
        ("", None),
        ("taints {}", []),
        (
            'taints { items { key: "a" value: "b" effect: TAINT_EFFECT_PREFER_NO_SCHEDULE } }',
            [{"key": "a", "value": "b", "effect": "PreferNoSchedule"}],
        ),
    ],
)
def test_taints_unset_and_empty_are_different(machines: Any, taints: str, expected: object) -> None:
    """None leaves them to kubeadm, an empty list asks for none."""
    assert registration(machines, NODE % taints, role="ROLE_INIT")["taints"] == expected


def test_an_imported_worker_keeps_cluster_apis_mark(machines: Any) -> None:
    """Once; control planes and native workers do not have it."""
    key = "node.cluster.x-k8s.io/uninitialized"
    mark = {"key": key, "effect": "NoSchedule"}
    given = NODE % f'taints {{ items {{ key: "{key}" value: "x" effect: TAINT_EFFECT_NO_SCHEDULE }} }}'
    assert registration(machines, PROVIDER)["taints"] == [mark]
    assert registration(machines, PROVIDER, given)["taints"] == [{**mark, "value": "x"}]
    assert registration(machines, PROVIDER, role="ROLE_CONTROL_PLANE")["taints"] is None
    assert registration(machines)["taints"] is None


def test_labels_join_those_of_an_argument(machines: Any) -> None:
    """The kubelet takes one list; labels of the spec come behind those of the argument."""
    text = (
        'labels { name: "c" value: "d" } labels { name: "e" } '
        'kubelet_arguments { name: "node-labels" value: "a=b" } kubelet_arguments { name: "v" value: "2" }'
    )
    assert arguments(machines, NODE % text) == {"node-labels": "a=b,c=d,e=", "v": "2"}


RESTRICTED = {
    "the role of a node": "node-role.kubernetes.io/worker",
    "what isolation of nodes relies on": "node-restriction.kubernetes.io/pool",
    "the domain itself": "kubernetes.io/anything",
    "the other domain": "example.k8s.io/anything",
}
ALLOWED = {
    "no domain": "pool",
    "a domain that merely ends alike": "node.cluster.x-k8s.io/pool",
    "the domain of nodes": "node.kubernetes.io/exclude-from-external-load-balancers",
    "below the domain of kubelets": "a.kubelet.kubernetes.io/b",
    "a name in the kubelet's list": "topology.kubernetes.io/zone",
}


@pytest.mark.parametrize("label", RESTRICTED.values(), ids=RESTRICTED)
def test_labels_that_the_kubelet_does_not_start_with_are_refused(machines: Any, label: str) -> None:
    """At the label, or the argument that has it; an imported spec keeps it, and a warning has the place."""
    of_machine = FACT % "REGION" + TEXT % f"=x,{label}=y"
    places = {
        f"labels {{ name: 'a' }} labels {{ name: '{label}' }}": "labels[1]",
        f"kubelet_arguments {{ name: 'node-labels' value: 'a=b,{label}=' }}": "kubelet_arguments[0]",
        f"kubelet_arguments {{ name: 'node-labels' {of_machine} }}": "kubelet_arguments[0]",
    }
    for text, place in places.items():
        path = f"intent.kubernetes.node.{place}"
        (refusal,) = machines.plan("ROLE_WORKER", NODE % text).refusals
        assert refusal.path == path
        assert "kubectl label" in refusal.remedy
        imported = machines.plan("ROLE_WORKER", NODE % text, PROVIDER)
        assert imported.refusals == ()
        assert [one.path for one in imported.diagnostics if one.code == "CANNOT_WORK"] == [path]
        assert label in arguments(machines, NODE % text, PROVIDER)["node-labels"]


@pytest.mark.parametrize("label", ALLOWED.values(), ids=ALLOWED)
def test_labels_that_a_node_may_set_on_itself_are_not_refused(machines: Any, label: str) -> None:
    """Those of other domains, and those that the kubelet allows."""
    result = machines.plan("ROLE_WORKER", NODE % f"labels {{ name: '{label}' }}")
    assert result.refusals == ()
    assert "CANNOT_WORK" not in {one.code for one in result.diagnostics}


def test_labels_join_an_argument_that_holds_a_fact(machines: Any) -> None:
    """The fact stays a slot."""
    text = (
        f"labels {{ name: 'c' value: 'd' }} kubelet_arguments {{ name: 'node-labels' {TEXT % 'r='}{FACT % 'REGION'} }}"
    )
    assert arguments(machines, NODE % text) == {"node-labels": "r=fact-8,c=d"}


@pytest.mark.parametrize(("field", "argument"), [("provider_id", "provider-id"), ("node_ip", "node-ip")])
def test_fields_that_are_arguments(machines: Any, field: str, argument: str) -> None:
    """Provider id and address of the node become arguments; saying them twice is refused."""
    text = f"{field} {{ {FACT % 'PROVIDER_ID'} }}"
    assert arguments(machines, NODE % text) == {argument: "fact-4"}
    twice = NODE % f"{text} kubelet_arguments {{ name: 'v' }} kubelet_arguments {{ name: '{argument}' value: 'x' }}"
    (refusal,) = machines.plan("ROLE_WORKER", twice).refusals
    assert refusal.path == "intent.kubernetes.node.kubelet_arguments[1]"


@pytest.mark.parametrize(
    ("texts", "windows", "socket"),
    [
        ((), False, "unix:///run/containerd/containerd.sock"),
        ((PROVIDER,), False, None),
        ((PROVIDER,), True, "npipe:////./pipe/containerd-containerd"),
        ((NODE % 'cri_socket: "unix:///x"',), False, "unix:///x"),
    ],
)
def test_the_runtimes_socket(machines: Any, texts: tuple[str, ...], windows: Any, socket: str | None) -> None:
    """Containerd's unless said; an imported Linux spec leaves the choice to kubeadm, as today."""
    assert registration(machines, *texts, windows=windows).get("criSocket") == socket


def test_serial_pulls_false_is_a_wish(machines: Any) -> None:
    """Set to false is not the same as unset."""
    assert registration(machines, "engine_options { kubeadm { image_pull_serial: false } }")["imagePullSerial"] is False
    assert "imagePullSerial" not in registration(machines)


@pytest.mark.parametrize("ignored", ["all", "DirAvailable--etc-kubernetes-manifests"])
def test_a_check_is_not_ignored_twice(machines: Any, ignored: str) -> None:
    """With static pods their check is added only where the user has not ignored it."""
    pod = 'intent { kubernetes { static_pods { name: "p" manifest { text: "x" } } } }'
    option = f'engine_options {{ kubeadm {{ ignored_preflight_errors: "{ignored}" }} }}'
    assert registration(machines, pod, option)["ignorePreflightErrors"] == [ignored]


@given(
    st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=40), max_size=4),
    st.sampled_from(["v1.30.5", "v1.34.2"]),
)
def test_arguments_arrive_as_they_were_written(machines: Any, values: list[str], version: str) -> None:
    """parse(render(x)) gives back x, whatever characters an argument holds, in both APIs."""
    bundle = machines.bundle("ROLE_WORKER", version=version)
    names = ("root-dir", "cert-dir", "lock-file", "config")
    for name, value in zip(names, values, strict=False):
        bundle.intent.kubernetes.node.kubelet_arguments.add(name=name, value=value)
    config = yaml.safe_load(machines.text(machines.plan_of(bundle).files[-1].content))
    arguments = config["nodeRegistration"].get("kubeletExtraArgs", {})
    if isinstance(arguments, list):
        arguments = {argument["name"]: argument["value"] for argument in arguments}
    assert arguments == dict(zip(names, values, strict=False))
