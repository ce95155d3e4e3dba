"""Tests of the codec between messages and the documents of people, both ways."""

from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slipway.contract.control_characters import has_controls
from slipway.contract.field_plans import is_item
from slipway.contract.items import items
from slipway.contract.source_position import SourceError
from slipway.contract.yaml_decode import decode
from slipway.contract.yaml_encode import dump, encode
from slipway.contract.yaml_names import enum_names, enum_word, fields_by_key, person_path
from slipway.contract.yaml_source import load_documents
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.sdk.contract.messages import messages


def read(text: str, message: Any, *, document: str = "") -> Any:
    """Read a message from a document."""
    (loaded,) = load_documents(text, file="f.yaml")
    return decode(loaded.value, message, source=loaded.source, document=document)


@pytest.mark.parametrize("cls", [specpb.MachineBootstrapSpec, clusterpb.SlipwayClusterSpec])
def test_what_is_written_reads_back_as_the_same(cls: Any) -> None:
    """Every message that a person can write survives being written, presence of fields and empty messages included."""

    @given(message=messages(cls, internal=False))
    @settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
    def holds(message: Any) -> None:
        assert read(dump(encode(message)) or "{}", cls()) == message

    holds()


@given(st.recursive(
    st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x07\x1b\x85\x9b\u202e\u2069\r\n :#-")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.sampled_from("ab\x1b\u202e")), inner),
    max_leaves=8,
))  # fmt: skip
def test_written_text_does_nothing_to_a_terminal(tree: Any) -> None:
    """Whatever a value or a key holds, the document has no such character, and reads back as the same."""
    text = dump([tree])
    assert not has_controls(text)
    assert yaml.safe_load(text) == [tree]
    assert has_controls("\u2066")


def test_what_slipway_adds_is_not_written() -> None:
    """Origins and the like are not the user's: they are neither written nor read."""
    spec = specpb.MachineBootstrapSpec()
    spec.os.sysctls.add(name="a.b", value="1").origin.path = "spec.x"
    spec.imported.kind = "KubeadmConfig"
    assert encode(spec) == {"os": {"sysctls": [{"name": "a.b", "value": "1"}]}}
    with pytest.raises(SourceError, match="unknown field"):
        read("imported: {kind: x}", specpb.MachineBootstrapSpec())
    with pytest.raises(SourceError, match="unknown field"):
        read("os: {sysctls: [{origin: {}}]}", specpb.MachineBootstrapSpec())


def test_every_item_is_told_where_it_was_written() -> None:
    """The origin is the document and the path in the user's own spelling, for items at any depth."""
    text = (
        "os: {timeZone: {name: UTC}, users: [{name: a}, {name: b}]}\n"
        "init: {os: {ntp: {}}}\ncommands: {pre: [{argv: [x]}]}\n"
    )
    spec = read(text, specpb.MachineBootstrapSpec(), document="SlipwayConfig/x")
    found = {item.path: item.message.origin for item in items(spec)}
    assert {path: origin.path for path, origin in found.items()} == {
        "os.users[0]": "os.users[0]",
        "os.users[1]": "os.users[1]",
        "os.time_zone": "os.timeZone",
        "commands.pre[0]": "commands.pre[0]",
        "init.os.ntp": "init.os.ntp",
    }
    assert {origin.document for origin in found.values()} == {"SlipwayConfig/x"}
    bare = read(text, specpb.MachineBootstrapSpec())
    assert not any(item.message.origin.document for item in items(bare))


@pytest.mark.parametrize(
    ("reason", "text", "problem"),
    [
        ("unknown key", "os: {sysctl: []}", "f.yaml:1:6: os.sysctl: unknown field; did you mean sysctls?"),
        (
            "a field of an earlier version",
            "kubernetes: {featureGates: []}",
            "f.yaml:1:14: kubernetes.featureGates: unknown field: an earlier version had it, and the changelog says",
        ),
        ("wrong case", "os: {TimeZone: {}}", "did you mean timeZone?"),
        ("the contract's own spelling", "os: {time_zone: {}}", "did you mean timeZone?"),
        ("list instead of mapping", "os: [1]", "os: must be a mapping, not a list"),
        ("mapping instead of list", "os: {files: {path: x}}", "os.files: must be a list, not a mapping"),
        ("text instead of mapping", "os: Top-Secret", "os: must be a mapping, not text"),
        ("text instead of a content", "os: {files: [{content: Top-Secret}]}", "not text: write content: {text: ...}"),
        ("number for a content", "os: {files: [{content: 5}]}", "not a number: write content: {text: ...}"),
        (
            "text for a machine's text",
            "os: {hostname: {name: Top-Secret}}",
            "name: must be a mapping, not text: write name: {value: ...}",
        ),
        (
            "text instead of a secret",
            "os: {users: [{passwordHash: Top-Secret}]}",
            "not text: write passwordHash: {value: ...}",
        ),
        (
            "text where more is needed",
            "kubernetes: {node: {labels: [Top-Secret]}}",
            "labels[0]: must be a mapping, not text\n",
        ),
        ("number for text", "os: {sysctls: [{value: 1}]}", "value: must be text (put it in quotes), not a number"),
        ("word of YAML for text", "os: {sysctls: [{value: yes}]}", "text (put it in quotes), not true or false"),
        ("text for a flag", "os: {files: [{append: 'true'}]}", "os.files[0].append: must be true or false, not text"),
        ("text for a number", "os: {groups: [{gid: '12'}]}", "os.groups[0].gid: must be a whole number, not text"),
        ("flag for a number", "os: {groups: [{gid: true}]}", "must be a whole number, not true or false"),
        ("fraction for a number", "os: {groups: [{gid: 1.5}]}", "must be a whole number, not a number"),
        ("negative", "os: {groups: [{gid: -1}]}", "must be from 0 to 4294967295"),
        ("too large", "os: {groups: [{gid: 4294967296}]}", "must be from 0 to 4294967295"),
        ("mode as a number", "os: {files: [{mode: 0644}]}", 'octal permission bits such as "0644", in quotes'),
        ("mode that is none", "os: {files: [{mode: '0888'}]}", "octal permission bits"),
        ("no such value", "target: {osFamily: Linus}", "must be one of Linux, Windows; did you mean Linux?"),
        ("enum as in the contract", "target: {osFamily: OS_FAMILY_LINUX}", "must be one of Linux, Windows"),
        ("enum as a number", "target: {osFamily: 1}", "must be one of Linux, Windows, not a number"),
        ("half a character", 'os: {sysctls: [{value: "\\uD800"}]}', "not YAML"),
        ("no base64", "os: {files: [{content: {data: 'a*'}}]}", "os.files[0].content.data: must be base64"),
        ("two of one kind", "os: {files: [{content: {text: a, data: YQ==}}]}", "data: cannot be set together with"),
        ("empty entry", "os: {files: [null]}", "os.files[0]: must not be empty"),
        ("number for a duration", "kubernetes: {timeouts: {tlsBootstrap: 5}}", "must be text, not a number"),
        ("no duration", "kubernetes: {timeouts: {tlsBootstrap: 5 m}}", 'must be a duration such as "5m" or "1h30m"'),
        ("endless duration", "kubernetes: {timeouts: {tlsBootstrap: 99999999999999999999h}}", "is too long a duration"),
        ("no time", "engineOptions: {kubeadm: {bootstrapTokens: [{expireTime: x}]}}", "must be a time such as 2026-"),
    ],
    ids=lambda value: value.replace(" ", "-") if len(str(value)) < 30 else "",
)
def test_what_is_wrong_is_told_with_place_and_without_value(reason: str, text: str, problem: str) -> None:
    """File, line, column and path lead to the mistake; what the user wrote there is not repeated."""
    with pytest.raises(SourceError) as caught:
        read(text, specpb.MachineBootstrapSpec())
    told = str(caught.value)
    assert problem in f"{told}\n", reason
    assert told.startswith("f.yaml:1:"), reason
    for secret in ("Top-Secret", "99999999", "tomorrow", "5 minutes", "a*", "0888"):
        assert secret not in told, reason


def test_everything_that_is_wrong_is_told_at_once() -> None:
    """Nobody wants to correct a document one mistake at a time."""
    text = "os:\n  sysctl: []\n  files:\n  - mode: 7\n    append: 1\n  users: {}\nwhat: 1\n"
    with pytest.raises(SourceError) as caught:
        read(text, specpb.MachineBootstrapSpec())
    assert [(problem.position.line, problem.path) for problem in caught.value.problems if problem.position] == [
        (2, "os.sysctl"),
        (4, "os.files[0].mode"),
        (5, "os.files[0].append"),
        (6, "os.users"),
        (7, "what"),
    ]


def test_set_is_not_the_same_as_unset() -> None:
    """A value that equals its default is set, an empty mapping is set, null and an empty list are not."""
    ntp = read("enabled: false\nservers: []\npools: null\n", ospb.Ntp())
    assert ntp.HasField("enabled")
    assert [field.name for field, _ in ntp.ListFields()] == ["enabled"]
    node = read("taints: {}", kubernetespb.NodeRegistration())
    assert node.HasField("taints")
    assert encode(node) == {"taints": {}}


def test_values_have_the_habits_of_kubernetes() -> None:
    """Durations, times, modes, enum values and bytes are spelled as people of the field expect."""
    spec = specpb.MachineBootstrapSpec()
    spec.kubernetes.timeouts.tls_bootstrap.FromSeconds(5400)
    spec.kubernetes.certificates.key_algorithm = kubernetespb.KEY_ALGORITHM_RSA_2048
    spec.engine_options.kubeadm.bootstrap_tokens.add().expire_time.FromJsonString("2026-01-31T12:00:00Z")
    spec.os.files.add(path="/f", mode=0o4755).content.data = b"\x00"
    assert encode(spec) == {
        "os": {"files": [{"path": "/f", "content": {"data": "AA=="}, "mode": "4755"}]},
        "kubernetes": {
            "certificates": {"keyAlgorithm": "Rsa2048"},
            "timeouts": {"tlsBootstrap": "1h30m"},
        },
        "engineOptions": {"kubeadm": {"bootstrapTokens": [{"expireTime": "2026-01-31T12:00:00Z"}]}},
    }
    assert read("{data: 'QU\n JD'}", contentpb.Content()).data == b"ABC"


def test_long_text_is_a_block_that_people_can_read() -> None:
    """A script keeps its lines; short words stay plain."""
    command = planpb.Command()
    command.script.text = "set -e\nyes\n"
    assert dump(encode(command)) == "script:\n  text: |\n    set -e\n    yes\n"
    assert dump({"value": "y"}) == "value: 'y'\n"
    assert dump({"value": "plain"}, {"value": 1}) == "value: plain\n---\nvalue: 1\n"


def test_names_are_unique_for_people() -> None:
    """No two fields, and no two values of an enum, have one spelling; items are exactly what has an origin."""
    seen: set[Any] = set()

    def walk(descriptor: Any) -> None:
        if descriptor in seen:
            return
        seen.add(descriptor)
        keys = fields_by_key(descriptor)
        assert len(set(keys)) == len({field.number for field in keys.values()})
        for field in descriptor.fields:
            if field.enum_type is not None:
                names = enum_names(field.enum_type)
                assert len(set(names.values())) == len(names) == len(field.enum_type.values) - 1
                assert all(name[0].isupper() or name[0].isdigit() for name in names.values())
            if field.message_type is not None:
                walk(field.message_type)

    walk(specpb.MachineBootstrapSpec.DESCRIPTOR)
    walk(secretpb.SecretMaterial.DESCRIPTOR)
    assert is_item(ospb.User.DESCRIPTOR)
    assert not is_item(ospb.Package.DESCRIPTOR)


@pytest.mark.parametrize(
    ("contract", "person"),
    [("os.time_zone", "os.timeZone"), ("a[0].pod_cidrs[1]", "a[0].podCidrs[1]"), ("private_ipv4_x", "privateIpv4X")],
)
def test_paths_are_told_in_the_spelling_of_people(contract: str, person: str) -> None:
    """Whoever reads a refusal finds the key in the own document."""
    assert person_path(contract) == person


def test_values_of_a_newer_contract_have_a_word() -> None:
    """Another process may send a number that this one does not know; nothing ends by that."""
    states = registrypb.InstanceState.DESCRIPTOR
    words = [enum_word(states, number) for number in (registrypb.INSTANCE_STATE_NOT_READY, 99)]
    assert words == ["not-ready", "unknown (99)"]
