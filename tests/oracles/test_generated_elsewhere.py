"""What is generated, without a boot: the older kubeadm judges it as well, and differences by role mean the same."""

import base64
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from google.protobuf.message import Message

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.engines.kubeadm.features import V1BETA3_LACKS, V1BETA3_LACKS_ON_NODES
from slipway.contract.feature_uses import uses
from slipway.contract.yaml_names import person_path
from slipway.provisioners.ignition.features import SPECS
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.oracles import agreement, generated, generated_disks, ours
from tests.oracles.generated_network import FACTS
from tests.oracles.test_generated import MACHINES, MAKES_CLUSTER, question, rendered
from tools.oracles import cloud_init, finding, ignition, kubeadm

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

VERSIONS = {kubeadm.OLDER: "v1.30.5", kubeadm.CURRENT: "v1.34.2"}
OVERRIDDEN = ("os", "kubernetes", "commands", "engine_options")
_CONFIG = "/etc/slipway/kubeadm.yaml"
_DIGESTS = re.compile(rb'"id":"([0-9a-f]{16})","bootstrapper":.*"specDigest":"([^"]+)"')
# kubeadm looks for it where it judges.
_FILE_THERE = re.compile(rb"(?m)^( *kubeConfigPath: ).*$")
_LACKS = {kubeadm.OLDER: V1BETA3_LACKS.keys() | V1BETA3_LACKS_ON_NODES.keys(), kubeadm.CURRENT: set()}


@pytest.mark.parametrize("version", VERSIONS)
def test_kubeadm_of_each_api_takes_the_documents(version: str, engine: Callable[..., None]) -> None:
    """Strictly, of every generated machine; what the older one has no place for is not said to it."""
    engine(f"kubeadm-{version}")
    apis = set()
    for number in range(len(MACHINES)):
        asked = question(number)
        for facts in (asked.subject.cluster, asked.subject.machine):
            facts.kubernetes_version = VERSIONS[version]
        _fit(asked.subject.spec, version)
        _fill_in(asked.subject.spec.kubernetes)
        _fill_in(asked.subject.spec.engine_options)
        before = generated.said(asked.subject.spec.kubernetes)
        answers, _ = agreement.render_by_all(asked, ("cloud-init",))
        # Were most of it refused, little would be proved.
        assert len(generated.said(asked.subject.spec.kubernetes)) > len(before) * 3 / 4
        document = _document(answers["cloud-init"].user_data)
        apis |= {one["apiVersion"] for one in yaml.safe_load_all(document) if "kubeadm" in one["apiVersion"]}
        assert finding.errors(kubeadm.validate(document, version=version)) == []
    assert apis == {"kubeadm.k8s.io/v1beta3" if version == kubeadm.OLDER else "kubeadm.k8s.io/v1beta4"}


@pytest.mark.parametrize("number", range(len(MACHINES)))
def test_differences_by_role_make_the_same_machine(number: int) -> None:
    """Half of it is said for the machine's role alone: every byte is the same but for the digests of the spec."""
    answers, whole, _ = rendered(number)
    asked = MachineQuestion(type(whole.subject)(), whole.secrets, [])
    asked.subject.CopyFrom(whole.subject)
    overrides = asked.subject.spec.init if MAKES_CLUSTER[number] else asked.subject.spec.join
    moved = _move_half(asked.subject.spec, overrides)
    assert moved > 0
    assert set(OVERRIDDEN) == {field.name for field in specpb.RoleOverrides.DESCRIPTOR.fields}
    found = ours.render(asked, "cloud-init").user_data
    assert _without_id(found) == _without_id(answers["cloud-init"].user_data)


@pytest.mark.parametrize("number", range(len(MACHINES)))
def test_every_parser_takes_the_documents(number: int, engine: Callable[..., None]) -> None:
    """Of each spec of Ignition, and the schemas of both ages of cloud-init; with disks as well."""
    engine("root-trixie", "root-bookworm", "ignition-parsers")
    answers, whole, _ = rendered(number)
    asked = MachineQuestion(type(whole.subject)(), whole.secrets, [])
    asked.subject.CopyFrom(whole.subject)
    for root in ("trixie", "bookworm"):
        assert cloud_init.validate(answers["cloud-init"].user_data, root=root) == []
    layout = generated_disks.in_sizes(generated_disks.layouts(len(MACHINES))[number])
    for name in ("disks", "filesystems", "mounts"):
        getattr(asked.subject.spec.os, name).MergeFrom(getattr(layout, name))
    for spec in SPECS:
        assert ignition.validate(ours.render(asked, "ignition", f"ignition/{spec}").user_data) == []


def _fit(spec: specpb.MachineBootstrapSpec, version: str) -> None:
    """Take out what an API has no place for."""
    paths = [use.path for use in uses(spec) if use.id in _LACKS[version]]
    for path in reversed(paths):
        agreement.take_out(spec, person_path(path), whole=False)
    if spec.engine_options.kubeadm.HasField("version"):
        spec.engine_options.kubeadm.version = VERSIONS[version]
    if version == kubeadm.OLDER:
        for holder in _holders_of_arguments(spec.kubernetes):
            named = {one.name: one for one in holder}
            del holder[:]
            holder.extend(named.values())
        for gate in spec.engine_options.kubeadm.feature_gates:
            gate.name = gate.name.replace("NodeLocalCRISocket", "EtcdLearnerMode")  # That is of 1.32.


def _fill_in(message: Message) -> None:
    """Say what each fact is, since what the machine would put together cannot be read from a document."""
    for one, value in message.ListFields():
        if one.message_type is None:
            continue
        for entry in value if one.is_repeated else [value]:
            if one.name == "segments" and entry.HasField("fact"):
                entry.text = FACTS[entry.fact.kind]
            _fill_in(entry)


def _holders_of_arguments(message: Message) -> Iterator[Any]:
    """Every list of arguments, which v1beta3 has as a mapping."""
    for one, value in message.ListFields():
        if one.message_type is None:
            continue
        if one.message_type.name == "Argument":
            yield value
        for entry in value if one.is_repeated else [value]:
            yield from _holders_of_arguments(entry)


def _move_half(spec: specpb.MachineBootstrapSpec, overrides: specpb.RoleOverrides) -> int:
    """Move every other field of each part to the differences; how many were moved."""
    moved = 0
    for part in OVERRIDDEN:
        holder, above = getattr(spec, part), getattr(overrides, part)
        for one, _ in holder.ListFields()[::2]:
            above.MergeFrom(_only(holder, one.name))
            holder.ClearField(one.name)
            moved += 1
        if not above.ListFields():
            overrides.ClearField(part)
    return moved


def _only(holder: Message, name: str) -> Message:
    """A copy that says one field."""
    copy = type(holder)()
    copy.CopyFrom(holder)
    for one, _ in holder.ListFields():
        if one.name != name:
            copy.ClearField(one.name)
    return copy


def _without_id(user_data: bytes) -> bytes:
    found = _DIGESTS.search(user_data)
    assert found
    return user_data.replace(found[1], b"").replace(found[2], b"")


def _document(user_data: bytes) -> bytes:
    """What kubeadm would read, with files that only the machine has replaced by one that is here."""
    (file,) = [write_file for write_file in yaml.safe_load(user_data)["write_files"] if write_file["path"] == _CONFIG]
    content: str = file["content"]
    text = base64.b64decode(content) if file.get("encoding") == "b64" else content.encode()
    return _FILE_THERE.sub(rb"\1" + __file__.encode(), text)
