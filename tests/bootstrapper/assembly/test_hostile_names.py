"""No value of a spec that becomes an argument of a program is an option of it, and no account is another one's."""

import json
from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from slipway.bootstrapper.assembly.subject import check
from slipway.contract.errors import SpecInvalid
from slipway.contract.field_plans import plan
from slipway.contract.grammars import grammars
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.assembly.subjects import subject

REVIEWED = {
    "User.gecos": "the argument of an option",
    "User.sudo": "a line of a file, behind the name",
    "User.ssh_authorized_keys": "a line of a file",
    "Filesystem.label": "the argument of an option",
    "Filesystem.options": "options on purpose",
    "Sysctl.value": "behind the name",
    "KubeadmBootstrapToken.description": "a field of a Secret",
    "SystemdUnit.name": "only -.mount and -.slice; systemctl never gets them",
    "SecretReference.key": "a key of a Secret",
    "ConfigMapReference.key": "a key of a ConfigMap",
    "Command.argv": "behind the program, options on purpose; the program is checked",
    "Link.target": "checked beside the links",
    "Mount.path": "checked beside the mounts",
    "Partition.label": "part of a quoted word",
    "PartitionReference.label": "compared with that of a partition",
    "RegistryCredentials.username": "encoded with the password",
    "Argument.value": "behind the name",
    "EnvironmentVariable.value": "behind the name",
    "SecretValue.value": "a secret, in a file",
    "MachineText.value": "has a grammar where it is used",
    "TextSegment.text": "a part of a text",
    "Segment.text": "content",
    "Content.text": "content",
    "OpaqueDocument.text": "content",
    "ExtensionText.text": "content",
    "Waiver.reason": "part of a quoted word",
    "SystemdUnit.contents": "content",
    "SystemdDropIn.contents": "content",
}


def names(descriptor: Descriptor, seen: set[str]) -> Iterator[str]:
    """Give the text fields of a spec that may begin with a dash."""
    if descriptor.full_name in seen or descriptor.name in {"Origin", "Imported"}:
        return
    seen.add(descriptor.full_name)
    for number, field in plan(descriptor).items():
        if field.message is not None:
            yield from names(field.message, seen)
        elif descriptor.fields_by_number[number].type == FieldDescriptor.TYPE_STRING:
            known = field.rules.format
            if not known or any(grammars()[known].check(text) for text in ("-r", "--help", "-.mount", "-")):
                yield f"{descriptor.name}.{field.name}"


def test_what_may_begin_with_a_dash_is_known() -> None:
    """Every other text of a spec has a grammar that forbids it; a new field needs one, or a reason here."""
    assert set(names(specpb.MachineBootstrapSpec.DESCRIPTOR, set())) == set(REVIEWED)


@pytest.mark.parametrize(
    ("spec", "field", "reason"),
    [
        ({"os": {"kernelModules": [{"name": "-r"}]}}, "os.kernelModules[0].name", "modprobe removes it"),
        ({"os": {"kernelModules": [{"name": "--help"}]}}, "os.kernelModules[0].name", "modprobe does nothing"),
        ({"os": {"packages": {"install": [{"name": "-o"}]}}}, "os.packages.install[0].name", "of the package manager"),
        ({"os": {"systemdUnits": [{"name": "-x.service", "contents": "x"}]}}, "os.systemdUnits[0].name", "a unit"),
        ({"os": {"systemdUnits": [{"name": "-.mount", "enabled": True}]}}, "os.systemdUnits[0]", "the root's mount"),
        ({"os": {"users": [{"name": "-r"}]}}, "os.users[0].name", "of useradd"),
        ({"os": {"users": [{"name": "a", "groups": ["-r"]}]}}, "os.users[0].groups[0]", "of usermod"),
        ({"os": {"groups": [{"name": "-r"}]}}, "os.groups[0].name", "of groupadd"),
        ({"os": {"sysctls": [{"name": "-a.b", "value": "1"}]}}, "os.sysctls[0].name", "of sysctl"),
        ({"os": {"mounts": [{"source": "-o", "path": "/x"}]}}, "os.mounts[0].source", "of a helper of mount"),
        ({"os": {"mounts": [{"source": "x", "path": "/x", "type": "-x"}]}}, "os.mounts[0].type", "of mount"),
        ({"os": {"kernelArguments": [{"argument": "--"}]}}, "os.kernelArguments[0].argument", "the rest is init's"),
        ({"commands": {"pre": [{"argv": ["--help", "x"]}]}}, "commands.pre[0].argv[0]", "a program"),
    ],
)
def test_no_name_is_an_option(spec: dict[str, object], field: str, reason: str) -> None:
    """Whichever program would take it for one of its options."""
    assert reason
    with pytest.raises(SpecInvalid) as refused:
        check(subject(json.dumps(spec)))
    assert [
        violation.path.removeprefix("SlipwayConfig/x: ").removeprefix("spec.") for violation in refused.value.violations
    ] == [field]


@pytest.mark.parametrize("part", ["", "init", "join"])
def test_the_image_s_own_user_is_not_an_account(part: str) -> None:
    """cloud-init would let it use sudo; the remedy is the field for that user."""
    os = {"os": {"users": [{"name": "default", "sshAuthorizedKeys": ["ssh-ed25519 AAAA"]}]}}
    with pytest.raises(SpecInvalid) as refused:
        check(subject(json.dumps({part: os} if part else os)))
    (violation,) = refused.value.violations
    place = f"{part}.os.users[0].name".lstrip(".")
    assert violation.path.removeprefix("SlipwayConfig/x: ").removeprefix("spec.") == place
    assert violation.remedy == "choose another name, or set defaultUser"


def test_an_imported_config_may_mean_it() -> None:
    """As it does today."""
    question = subject(json.dumps({"os": {"users": [{"name": "default"}]}}))
    question.spec.imported.kind = "KubeadmConfig"
    assert check(question).spec.os.users[0].name == "default"
