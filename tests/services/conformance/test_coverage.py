"""No field of the contract is left out: each is in a case, and has other values, lengths and orders than that."""

import pytest
from google.protobuf.descriptor import FieldDescriptor

from slipway.contract.field_plans import plan
from tests.services.conformance.coverage import Ways, fields, ways

pytestmark = pytest.mark.long

NO_CASE = {
    "Argument.segments": "an argument with facts; only importers write it",
    "Cluster.namespace": "what it is about is outside of the machine",
    "ClusterCredentials.declared": "RND-018 gives each format the secrets that it declares",
    "ClusterCredentials.etcd_client": "only beside etcd on other machines",
    "ConfigMapReference.key": "a bundle has the content itself",
    "ConfigMapReference.name": "a bundle has the content itself",
    "Content.config_map_ref": "a bundle has the content itself",
    "Content.data": "a bundle has segments",
    "Content.secret_ref": "a bundle has segments",
    "Content.text": "a bundle has segments",
    "HostPathVolume.path_type": "no system with an intent shows it",
    "OpaqueDocument.data": "a document of bytes is read as one of text",
    "Proxy.no_proxy_only": "a bundle never has it",
    "SecretValue.value": "a bundle has references",
    "Segment.text": "a bundle has bytes",
}
"""Fields that are in no case."""

AS_IT_IS = {
    "Cluster.kubernetes_version": "RND-024: which versions a system runs only its maintainers know",
    "Cluster.pod_cidrs": "its values are varied one by one",
    "Cluster.service_cidrs": "its values are varied one by one",
    "ClusterCredentials.ca_hashes": "it is that of the authority",
    "ComponentFile.argument": "its name decides which file a component has",
    "ComponentFile.component": "there are five",
    "ComponentFile.name": "it only identifies an item",
    "Directory.group": "it names an account", "Directory.owner": "it names an account",
    "Directory.mode": "an item always says it",
    "File.group": "it names an account", "File.owner": "it names an account",
    "Intent.role": "the cases have each",
    "Intent.kubernetes_version": "RND-024: which versions a system runs only its maintainers know",
    "Kubernetes.static_pods": "each needs a document of its own name",
    "Link.group": "it names an account", "Link.owner": "it names an account",
    "MachineText.segments": "RND-015 varies segments",
    "NodeRegistration.image_pull_policy": "there are three",
    "OpaqueDocument.media_type": "there is one", "OpaqueDocument.text": "it is a document",
    "RemoteContent.sha256": "it is a hash", "RemoteContent.sha512": "it is a hash",
    "File.mode": "an item always says it",
    "Segment.encoding": "RND-016 varies it",
    "StaticPod.name": "its document has it, too",
    "TrustedCertificate.name": "it only identifies an item",
}  # fmt: skip
"""Fields whose values, or lists, are not varied in every way."""


@pytest.fixture(scope="module")
def varied() -> Ways:
    """Give how each field is varied."""
    return ways()


def test_every_field_is_in_a_case(varied: Ways) -> None:
    """A field that is added to the contract gets a case, or a reason for none."""
    assert sorted(name for name in fields() if "case" not in varied[name]) == sorted(NO_CASE)


def test_every_field_is_varied(varied: Ways) -> None:
    """A text has many values, a list several lengths and another order, and what may be unset is, once."""
    lacking = {
        name
        for name, field in fields().items()
        if name not in NO_CASE and not _wanted(field) <= varied[name]
    }  # fmt: skip
    assert sorted(lacking) == sorted(AS_IT_IS)


def _wanted(field: FieldDescriptor) -> set[str]:
    wanted = {"entries", "order"} if field.is_repeated else set()
    if field.message_type is None and field.type != FieldDescriptor.TYPE_BYTES:
        wanted |= {"value"}
    if field.type == FieldDescriptor.TYPE_STRING:
        wanted |= {"many values"}
    oneof = field.containing_oneof
    may_lack = field.has_presence and (oneof is None or len(oneof.fields) == 1)
    known = plan(field.containing_type)[field.number].rules
    return wanted | ({"unset"} if may_lack and not known.required and not field.message_type else set())
