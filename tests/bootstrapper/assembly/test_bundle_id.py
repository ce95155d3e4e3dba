"""The id of a bundle, computed again as a reader of bundle.proto would, in whatever language.

Nothing of ours takes part, and nothing of protobuf but the reading: what the text does not say is not known here.
"""

import hashlib

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from slipway.bootstrapper.assembly.subject import check
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper.asking import bootstrapper, question

SPEC = """{
  os: {
    files: [
      {path: /etc/a, content: {segments: [{text: "x"}, {secretRef: {name: theirs, key: k}, encoding: JsonString}]}},
      {path: /etc/b, append: false, content: {text: "\\u00fc"}}],
    users: [{name: u, lockPassword: false, passwordHash: {value: "$6$x$y"}}]},
  kubernetes: {node: {labels: [{name: a.example.com/b, value: c}]}},
  commands: {post: [{argv: [echo, done], timeout: 90s}]}}"""
"""A oneof below the number of another field, a scalar that is set to its default, secrets in place and by name."""

WORDS = {FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES}


def varint(number: int) -> bytes:
    """Give a number as protobuf's page on encoding says."""
    number &= (1 << 64) - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def serialised(message: Message, *, without: tuple[str, ...] = (), nowhere: str = "") -> bytes:
    """Give each field that is set, in the order of the fields' numbers, but for some: here, or here and within."""
    found = b""
    for field, value in sorted(message.ListFields(), key=lambda one: one[0].number):
        if field.name in (*without, nowhere):
            continue
        entries = list(value) if field.is_repeated else [value]
        if field.message_type is not None:
            parts = [serialised(entry, nowhere=nowhere) for entry in entries]
        elif field.type in WORDS:
            parts = [entry.encode() if isinstance(entry, str) else entry for entry in entries]
        elif field.is_repeated:
            parts = [b"".join(varint(entry) for entry in entries)]
        else:
            found += varint(field.number << 3) + varint(int(value))
            continue
        found += b"".join(varint(field.number << 3 | 2) + varint(len(part)) + part for part in parts)
    return found


def spec_digest(bundle: bundlepb.BootstrapBundle) -> str:
    """Give what the text at `spec_digest` says."""
    without = ("id", "machine", "cluster", "secrets", "required_features", "features_computed", "provenance")
    return hashlib.sha256(serialised(bundle, without=without, nowhere="origin")).hexdigest()


def bundle_id(bundle: bundlepb.BootstrapBundle) -> str:
    """Give what the text at `id` says."""
    parts = [bundle.provenance.spec_digest.encode("ascii"), serialised(bundle.machine), serialised(bundle.cluster)]
    entries = [
        secret for secret in bundle.secrets.secrets if "/" in secret.name and secret.name != "slipway.dev/inline"
    ]
    entries.sort(key=lambda one: (one.name, one.key))
    parts += [hashlib.sha256(serialised(entry)).digest() for entry in entries]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


async def neutral(role: str, theirs: bytes = b"v") -> bundlepb.BootstrapBundle:
    """Give a neutral bundle with its secrets; `theirs` is the value of the user's own."""
    subject = check(question(SPEC, role=role).subject)
    secret = secretpb.Secret(name="theirs", key="k", kind=secretpb.SECRET_KIND_OPAQUE, value=theirs)
    bundle, _, _ = await bootstrapper().neutral(subject, None, secretpb.SecretMaterial(secrets=[secret]))
    return bundle


@pytest.mark.parametrize("role", ["Init", "ControlPlane", "Worker"])
async def test_the_id_is_what_the_contract_says(role: str) -> None:
    """Both digests come out of the bundle alone, whatever credentials a role has."""
    bundle = await neutral(role)
    assert bundle.provenance.spec_digest == spec_digest(bundle)
    assert bundle.id == bundle_id(bundle)


async def test_a_rotated_secret_of_the_user_is_no_other_machine() -> None:
    """Its state on the machine stays in force; the bundle itself is another one."""
    before, after = await neutral("Worker"), await neutral("Worker", b"rotated")
    assert before.id == after.id
    assert before != after
