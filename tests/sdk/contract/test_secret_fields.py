"""A field whose name sounds like a secret is marked as one, is a reference to one, or is listed here with a reason."""

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

import slipway.v1alpha1
from slipway.contract.field_plans import plan
from slipway.v1alpha1 import secret_pb2 as secretpb

SOUNDS_SECRET = re.compile("token|password|secret|key|credential|content|user_data|certificate|hash|username")

NOT_SECRET = {
    "Certificates.key_algorithm": "the name of an algorithm",
    "ClusterCredentials.ca_hashes": "hashes of public keys",
    "ConfigMapReference.key": "the key under which a value stands in a ConfigMap, which is no secret",
    "ExternalEtcd.key_file": "a path",
    "FormatInfo.secret_format": "a word of a data Secret",
    "GetBundleRequest.include_secrets": "a flag",
    "GetUserDataRequest.max_user_data_bytes": "a number",
    "GetUserDataResponse.secret_format": "a word of a data Secret",
    "ListReportsRequest.page_token": "where a page begins, by names that are in the page before",
    "ListReportsResponse.next_page_token": "where the next page begins, by names that are in this one",
    "OsAccounts.further_key_files": "names of files",
    "ProvisionRequest.max_user_data_bytes": "a number",
    "ProvisionResponse.secret_format": "a word of a data Secret",
    "RenderRequest.max_user_data_bytes": "a number",
    "KubeadmOptions.certificates_directory": "a path",
    "Secret.key": "the key under which a value stands, as in a Kubernetes Secret",
    "SecretReference.key": "the key under which a value stands, as in a Kubernetes Secret",
    "Taint.key": "the name of a taint",
    "Target.user_data_unchanged": "a flag",
    "TokenDiscovery.ca_hashes": "hashes of public keys",
    "User.lock_password": "a flag",
    "User.ssh_authorized_keys": "public keys",
}


def all_messages() -> Iterator[Descriptor]:
    """Give every message of the contract, nested ones included."""

    def nested(descriptor: Descriptor) -> Iterator[Descriptor]:
        yield descriptor
        for inner in descriptor.nested_types:
            yield from nested(inner)

    for module in pkgutil.iter_modules(slipway.v1alpha1.__path__):
        if module.name.endswith("_pb2"):
            found = importlib.import_module(f"slipway.v1alpha1.{module.name}")
            for descriptor in found.DESCRIPTOR.message_types_by_name.values():
                yield from nested(descriptor)


def open_fields(pattern: re.Pattern[str]) -> set[str]:
    """Give the fields of that name that hold a value of their own and are not marked."""
    return {
        f"{descriptor.name}.{field.name}"
        for descriptor in all_messages()
        for field in descriptor.fields
        if pattern.search(field.name) and field.message_type is None and not field.GetOptions().debug_redact
    }


def test_what_sounds_secret_is_marked() -> None:
    """A new field is either marked, or somebody has thought about it; nothing is listed that is not there."""
    assert open_fields(SOUNDS_SECRET) == NOT_SECRET.keys()


def test_bytes_are_secret_unless_they_are_hashes() -> None:
    """Opaque bytes may hold anything."""
    opaque = {
        f"{descriptor.name}.{field.name}"
        for descriptor in all_messages()
        for field in descriptor.fields
        if field.type == FieldDescriptor.TYPE_BYTES and not field.GetOptions().debug_redact
    }
    assert all(name.endswith(".sha256") for name in opaque), opaque


def test_addresses_are_marked() -> None:
    """A URL may carry a name and a password, or a signature, also where a rule refuses those."""
    plans = [(f"{owner.name}.{field.name}", field) for owner in all_messages() for field in plan(owner).values()]
    addresses = {name: field.redact for name, field in plans if field.rules.format == "url"}
    assert {"PackageRepository.url", "RegistryEndpoint.url", "Proxy.http_proxy"} <= addresses.keys()
    assert all(addresses.values()), addresses


@pytest.mark.parametrize("descriptor", list(all_messages()), ids=lambda one: one.name)
def test_there_is_nothing_that_the_walks_do_not_know(descriptor: Descriptor) -> None:
    """Walk, codec and redactor know no maps, no groups, no extensions and no Struct; the contract has none."""
    for field in descriptor.fields:
        assert not (field.message_type is not None and field.message_type.GetOptions().map_entry), field.name
        assert field.type != FieldDescriptor.TYPE_GROUP, field.name
        assert field.cpp_type not in {FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE}, field.name
        inside = field.message_type.full_name if field.message_type is not None else ""
        assert not inside.startswith("google.") or inside.endswith((".Duration", ".Timestamp")), field.name


def test_the_lint_sees_fields() -> None:
    """It looks at all messages, and at marks."""
    names = {all_message.name for all_message in all_messages()}
    assert {"BootstrapBundle", "User", "RegisterRequest", "Secret", "Attachment"} <= names
    assert "Secret.value" not in open_fields(re.compile("value"))
    assert secretpb.Secret.DESCRIPTOR.fields_by_name["value"].GetOptions().debug_redact
