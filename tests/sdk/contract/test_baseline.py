"""Tests that the contract keeps its promises to provisioners that are older than it.

`proto/baseline.binpb` is the contract as it was last released:
`buf build -o proto/baseline.binpb` makes it anew. buf itself finds what breaks the wire; this finds the rest.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorSet

from slipway.v1alpha1 import bootstrap_service_pb2, options_pb2, provisioning_service_pb2, registry_service_pb2
from tests.sdk.contract.baseline import FREE, PACKAGE, ids_of, messages_of, pool, problems

BASELINE = Path(__file__).parents[3] / "proto" / "baseline.binpb"
STRING = FieldDescriptorProto.TYPE_STRING
OPTIONAL = FieldDescriptorProto.LABEL_OPTIONAL


def baseline() -> FileDescriptorSet:
    """Give the contract as it was released."""
    return FileDescriptorSet.FromString(BASELINE.read_bytes())


def current() -> FileDescriptorSet:
    """Give the contract as it is, with everything that it imports."""
    files: dict[str, Any] = {}

    def add(descriptor: Any) -> None:
        if descriptor.name not in files:
            for needed in descriptor.dependencies:
                add(needed)
            found = FileDescriptorSet().file.add()
            descriptor.CopyToProto(found)
            files[descriptor.name] = found

    for module in (bootstrap_service_pb2, provisioning_service_pb2, registry_service_pb2):
        add(module.DESCRIPTOR)
    return FileDescriptorSet(file=files.values())


def test_nothing_that_was_promised_is_broken() -> None:
    """Every field and value that is newer than the baseline asks for a new feature, and no id has changed."""
    assert list(problems(pool(baseline()), pool(current()))) == []


def message(files: FileDescriptorSet, name: str) -> DescriptorProto:
    """Find a message in a set of files."""
    return next(one for file in files.file for one in file.message_type if one.name == name)


def add_field(files: FileDescriptorSet, name: str, *, feature: str = "", to: str = "File") -> FieldDescriptorProto:
    """Add a field to a message, as somebody does who extends the contract."""
    field = message(files, to).field.add(name=name, number=99, type=STRING, label=OPTIONAL)
    if feature:
        field.options.Extensions[options_pb2.feature] = feature
    return field


def no_feature(files: FileDescriptorSet) -> None:
    """A field that older provisioners would drop in silence."""
    add_field(files, "compression")


def old_feature(files: FileDescriptorSet) -> None:
    """A field under an id that older provisioners declare already."""
    add_field(files, "compression", feature=".append")


def absolute_old_feature(files: FileDescriptorSet) -> None:
    """The same by an absolute id."""
    add_field(files, "compression", feature="os.users")


def renamed_feature(files: FileDescriptorSet) -> None:
    """A known field under a new id: older provisioners are refused what they can do."""
    field = next(one for one in message(files, "File").field if one.name == "append")
    field.options.Extensions[options_pb2.feature] = ".appended"


def dropped_feature(files: FileDescriptorSet) -> None:
    """A known field that asks for nothing any more."""
    field = next(one for one in message(files, "File").field if one.name == "append")
    field.options.ClearExtension(options_pb2.feature)


def value_without_feature(files: FileDescriptorSet) -> None:
    """A value that older provisioners take for none."""
    enum = next(one for file in files.file for one in file.enum_type if one.name == "PartitionTableType")
    enum.value.add(name="PARTITION_TABLE_TYPE_BSD", number=7)


def removed_value_feature(files: FileDescriptorSet) -> None:
    """A known value that asks for nothing any more."""
    enum = next(one for file in files.file for one in file.enum_type if one.name == "PartitionTableType")
    enum.value[2].options.ClearExtension(options_pb2.value_feature)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (no_feature, {"File.compression is new and has no feature"}),
        (old_feature, {"feature os.files.append is used for something new: an id is never used again"}),
        (absolute_old_feature, {"feature os.users is used for something new: an id is never used again"}),
        (
            renamed_feature,
            {"feature os.files.append is gone: an id stays", "File.append has another feature than before"},
        ),
        (
            dropped_feature,
            {"feature os.files.append is gone: an id stays", "File.append has another feature than before"},
        ),
        (
            value_without_feature,
            {"Disk.table_type: value PARTITION_TABLE_TYPE_BSD is new and has no feature"},
        ),
        (
            removed_value_feature,
            {
                "feature os.storage.disks.mbr is gone: an id stays",
                "Disk.table_type: value PARTITION_TABLE_TYPE_MBR has another feature than before",
            },
        ),
    ],
)
def test_each_breach_is_found(change: Callable[[FileDescriptorSet], None], told: set[str]) -> None:
    """The comparison can fail, and says what is wrong."""
    files = current()
    change(files)
    assert set(problems(pool(current()), pool(files))) == told


def test_additions_by_the_rules_pass() -> None:
    """A new field with a new id is what the contract grows by; inside, new messages are free."""
    files = current()
    add_field(files, "compression", feature=".compression")
    add_field(files, "nickname", to="Machine")
    kind = FieldDescriptorProto.TYPE_MESSAGE
    field = message(files, "OperatingSystem").field.add(name="firewall", number=99, type=kind, label=OPTIONAL)
    field.type_name = f".{PACKAGE}.Firewall"
    field.options.Extensions[options_pb2.feature] = "os.firewall"
    home = next(file for file in files.file if any(one.name == "OperatingSystem" for one in file.message_type))
    home.message_type.add(name="Firewall").field.add(name="rule", number=1, type=STRING, label=OPTIONAL)
    assert list(problems(pool(current()), pool(files))) == []


def test_the_comparison_sees_the_whole_bundle() -> None:
    """What is exempt is there, and so are items of every part."""
    names = {one.name for one in messages_of(pool(current()))}
    assert names >= {*FREE, "File", "User", "KubeadmPatch", "StaticPod", "Command", "Extension", "Registry", "Audit"}
    ids = ids_of(pool(current()))
    assert {"os.files.append", "kubernetes.role.init", "plan.entrypoint", "engine_options.kubeadm"} <= ids
    assert {"os.files.facts.region", "os.storage.disks.mbr"} <= ids
