"""What a request holds is counted before it becomes objects: no small request takes a server's memory."""

import tracemalloc
from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError

from slipway.contract.errors import BundleInvalid
from slipway.contract.wire_entries import MAX_ENTRIES, check_entries
from slipway.rpc.server import MAX_MESSAGE_BYTES
from slipway.v1alpha1 import (
    bootstrap_service_pb2,
    provisioner_service_pb2,
    provisioning_service_pb2,
    registry_service_pb2,
    report_service_pb2,
)
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from slipway.v1alpha1 import secret_pb2 as secretpb

_FILES = (
    bootstrap_service_pb2,
    provisioner_service_pb2,
    provisioning_service_pb2,
    registry_service_pb2,
    report_service_pb2,
)
REQUESTS = sorted(
    {
        method.input_type.full_name: method.input_type
        for file in _FILES
        for service in file.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    }.items()
)
_FEW = 500
_MOST_MEMORY = 2**17
"""Bytes for the count itself, with so few entries: less than an eighth of the message."""


def _lists(descriptor: Descriptor) -> Iterator[tuple[FieldDescriptor, ...]]:
    """Give the way to every list that a message can hold, each list of a type once."""
    seen: set[str] = set()
    ways: list[tuple[FieldDescriptor, ...]] = [(field,) for field in descriptor.fields]
    while ways:
        way = ways.pop(0)
        field = way[-1]
        if field.full_name in seen:
            continue
        seen.add(field.full_name)
        if field.is_repeated:
            yield way
        if field.message_type is not None:
            ways += [(*way, inner) for inner in field.message_type.fields]


def _varint(number: int) -> bytes:
    octets = bytearray()
    while number >= 0x80:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*octets, number])


def _tag(field: FieldDescriptor, kind: int = 2) -> bytes:
    return _varint(field.number << 3 | kind)


def _filled(way: tuple[FieldDescriptor, ...], size: int) -> bytes:
    """Give a message whose innermost list has as many empty entries as the size allows."""
    number = way[-1].message_type is None and way[-1].type not in {
        FieldDescriptor.TYPE_STRING,
        FieldDescriptor.TYPE_BYTES,
    }
    entry = _tag(way[-1], 0 if number else 2) + b"\0"
    data = entry * (size // len(entry))
    for field in reversed(way[:-1]):
        data = _tag(field) + _varint(len(data)) + data
    return data


@pytest.mark.parametrize(("name", "descriptor"), REQUESTS, ids=[name.rpartition(".")[2] for name, _ in REQUESTS])
def test_no_list_of_a_request_can_fill_the_memory(name: str, descriptor: Descriptor) -> None:
    """Each list of every call is refused by its path before a message is made; the count ends at the limit."""
    del name
    for way in _lists(descriptor):
        data = _filled(way, 2**20)
        tracemalloc.start()
        try:
            with pytest.raises(BundleInvalid) as caught:
                check_entries(data, descriptor, most=_FEW)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        (violation,) = caught.value.violations
        assert violation.path.replace("[0]", "") == ".".join(field.name for field in way)
        assert violation.remedy
        assert peak < _MOST_MEMORY


def test_the_largest_request_is_counted_to_the_limit_only() -> None:
    """A request of two million empty secrets is refused by their list, and names what to do."""
    descriptor = provisioningpb.ProvisionRequest.DESCRIPTOR
    material = secretpb.SecretMaterial.DESCRIPTOR.fields_by_name["secrets"]
    data = _filled((descriptor.fields_by_name["secrets"], material), MAX_MESSAGE_BYTES - 100)
    with pytest.raises(BundleInvalid) as caught:
        check_entries(data, descriptor)
    assert str(MAX_ENTRIES) in caught.value.message
    assert caught.value.violations[0].path == "secrets.secrets"


def test_every_occurrence_counts_once() -> None:
    """Messages, texts, numbers of any kind and unknown fields count one each; exactly the limit is allowed."""
    request = provisioningpb.ProvisionRequest(machine_name="m", max_user_data_bytes=2**60, accept_gzip=True)
    for number in range(300):
        request.spec.os.files.add(path=f"/srv/{number}").content.segments.add(text="x" * 200)
    # spec, os, 300 files with path, content, segment and text; the three of the request itself.
    count = 2 + 300 * 5 + 3
    check_entries(request.SerializeToString(), request.DESCRIPTOR, most=count)
    with pytest.raises(BundleInvalid):
        check_entries(request.SerializeToString(), request.DESCRIPTOR, most=count - 1)


def test_numbers_of_a_packed_list_count() -> None:
    """They have one byte each and no tag."""
    info = provisionerpb.FormatInfo(os_families=[clusterpb.OS_FAMILY_LINUX] * 50)
    check_entries(info.SerializeToString(), info.DESCRIPTOR, most=51)
    with pytest.raises(BundleInvalid) as caught:
        check_entries(info.SerializeToString(), info.DESCRIPTOR, most=50)
    assert caught.value.violations[0].path == "os_families"


def test_unknown_fields_count() -> None:
    """Protobuf keeps them, and makes an object of each for a program that looks."""
    data = (_varint(1000 << 3) + b"\0") * (MAX_ENTRIES + 1)
    with pytest.raises(BundleInvalid):
        check_entries(data, provisioningpb.ProvisionRequest.DESCRIPTOR)


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a\x7f" + b"\x00" * 5,  # a field that ends beyond its message
        b"\x0a\x04\x1a\x09\x0a\x01" + b"\x00" * 5,  # the same further in
        b"\x0b" * 20,  # a group
        b"\xff" * 20,  # a tag without end
        b"\x08" * 3,  # cut off
        b"\x0a",  # cut off behind a tag
    ],
)
def test_what_is_no_message_is_left_to_the_decoder(data: bytes) -> None:
    """Such bytes are refused as those that protobuf itself cannot read."""
    with pytest.raises(DecodeError):
        check_entries(data, provisioningpb.ProvisionRequest.DESCRIPTOR, most=len(data) - 1)
