"""Operating systems made up from the contract's own descriptors: whatever a valid spec can say, these say at times.

The values of a field come from its grammar and its bounds, so a field that is added to the contract is covered by every
test that uses this on the day it is added.
"""

from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from hypothesis import strategies as st

from slipway.contract.field_plans import ORIGIN, plan
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb

PEM = """-----BEGIN CERTIFICATE-----
MIIBcDCCARegAwIBAgIUTJ0W59QqzYnXmXTeospx1oczEAswCgYIKoZIzj0EAwIw
DjEMMAoGA1UEAwwDY2ExMB4XDTI2MTEyMTA2NDQxMloXDTM2MTExODA2NDQxMlow
DjEMMAoGA1UEAwwDY2ExMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEELC09TgD
jO1kqEThv3aO62SCFVNIaj27L5t+TFUnEzombtqsyQvwJl6nYK1E5iJjgAWOyWW2
tG37BynEUnmaB6NTMFEwHQYDVR0OBBYEFAxxVJrg4PIHft5KFhCGYJbVsoanMB8G
A1UdIwQYMBaAFAxxVJrg4PIHft5KFhCGYJbVsoanMA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDRwAwRAIgKRXw549FnvnC80TCV9snPpCZW6+gJdkmkGDVAVjX
T3ACIBy+tiwWKXGWRh68RkgWAz3Ey4r+P5oDO+3uoCfvlE/m
-----END CERTIFICATE-----
"""
OPENPGP = """-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEZZNSABYJKwYBBAHaRw8BAQdAKzrHnFE1Sdypq3sGrkI5UM9lAHz3tDoxC0lX
NqrB9NC0EXNsaXB3YXkgdGVzdCBnb29kiJAEExYIADgWIQT5G6cvS5dgGqnvYNUP
7h+ggUFq5AUCZZNSAAIbAwULCQgHAgYVCgkICwIEFgIDAQIeAQIXgAAKCRAP7h+g
gUFq5KYqAQCOs+Vj4BgU4L1gVRABo0QPLrFUEkOBBZNWmjjh8GXqaQEA8CGnaWh2
wcpAvW3GwDduuxlbjVrehV6TASqbHZKxfAA=
=Y7lj
-----END PGP PUBLIC KEY BLOCK-----
"""
_NASTY = 'it\'s "$HOME" `id` \\ % ; rm -rf / & <x> 日本 *'
_WORD = "nasty'\"$(id)`;&|%\\*"

_SAMPLES = {
    "absolute-path": ["/etc/app/a.conf", "/srv/data", "/opt/it's a $(file)", "/home/ann/x", "/var/lib/etcd"],
    "account-name": ["root", "ann", "bob", "adm"],
    "computer-name": ["NODE-1"],
    "device": ["/dev/nvme1n1", "/dev/sdb1"],
    "directory-account": ["alice", "Node Admins"],
    "dns-label": ["one", "two", "three-3"],
    "dns-subdomain": ["corp.example.com"],
    "gecos": [_NASTY.replace(":", "")],
    "home-template": ["/home/%u@%d"],
    "host": ["ntp.example.com", "192.0.2.1", "2001:db8::1"],
    "hostname": ["node-1.example"],
    "identifier": ["ext4", "xfs"],
    "image": ["registry.k8s.io/pause:3.10"],
    "kernel-module": ["br_netfilter", "overlay", "nf-conntrack"],
    "ldap-filter": ["(memberOf=cn=a,dc=b)"],
    "login-shell": ["/bin/bash", "/usr/sbin/nologin", "/opt/it's a $(shell)"],
    "node-name": ["node-1"],
    "one-line": [_NASTY, "ssh-ed25519 AAAA me@example", "ALL=(ALL) NOPASSWD:ALL"],
    "one-word": [_WORD, "tmpfs", "LABEL=data", "noatime", "nofail", "hashsize=100"],
    "package-name": ["curl", "lib6+x.y"],
    "package-version": ["1.2-3~deb"],
    "partition-type": ["linux"],
    "openpgp-public-key": [OPENPGP],
    "pem-certificate": [PEM],
    "repository-part": ["stable", "main"],
    "registry-host": ["docker.io", "registry.example.com:5000", "_default"],
    "secret-key": ["value", "hash"],
    "secret-name": ["team-secret"],
    "sha256": ["a" * 64],
    "sha512": ["b" * 128],
    "sysctl": ["net.ipv4.ip_forward", "vm.swappiness"],
    "systemd-drop-in": ["10-a.conf", "20-b.conf"],
    "systemd-unit": ["a.service", "b.timer", "c@1.service", "d@.service"],
    "time-zone": ["Europe/Berlin", "UTC"],
    "url": ["https://mirror.example.com/v2/a%20b?x=$(id)&y='"],
}
_FREE = ["/mnt/data", "none", _NASTY, "[Unit]\nDescription=%h\n\n[Install]\nWantedBy=multi-user.target\n"]


def systems() -> st.SearchStrategy[ospb.OperatingSystem]:
    """Give operating systems with any of their fields set."""
    return st.builds(_merge, *(_single(field) for field in ospb.OperatingSystem.DESCRIPTOR.fields))


def _single(field: FieldDescriptor) -> st.SearchStrategy[ospb.OperatingSystem]:
    return st.one_of(st.just(ospb.OperatingSystem()), _set(ospb.OperatingSystem, field))


def _merge(*parts: ospb.OperatingSystem) -> ospb.OperatingSystem:
    merged = ospb.OperatingSystem()
    for part in parts:
        merged.MergeFrom(part)
    return merged


def _set(cls: Any, field: FieldDescriptor) -> st.SearchStrategy[Any]:
    values = _values(field)
    if field.is_repeated:
        key = plan(field.containing_type)[field.number].rules.unique_by
        values = st.lists(values, min_size=1, max_size=3, unique_by=_identity(list(key)) if key else None)
    return values.map(lambda value: cls(**{field.name: value}))


def _identity(names: list[str]) -> Any:
    return lambda message: tuple(str(getattr(message, name)) for name in names)


def _values(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    rules = plan(field.containing_type)[field.number].rules
    if field.message_type is not None:
        return _messages(field.message_type)
    if field.enum_type is not None:
        return st.sampled_from([value.number for value in field.enum_type.values])
    if field.type == FieldDescriptor.TYPE_BOOL:
        return st.booleans()
    if field.type == FieldDescriptor.TYPE_STRING:
        return st.sampled_from(_SAMPLES[rules.format] if rules.format else _FREE)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return st.binary(max_size=20)
    highest = rules.maximum if rules.HasField("maximum") else 5000
    return st.integers(min_value=max(1, rules.minimum), max_value=highest)


def _messages(descriptor: Any) -> st.SearchStrategy[Any]:
    special = _SPECIAL.get(descriptor.full_name)
    if special is not None:
        return special
    cls = descriptor._concrete_class
    required, others = [], []
    for field in descriptor.fields:
        if field.message_type is not None and field.message_type.full_name == ORIGIN:
            continue
        rules = plan(descriptor)[field.number].rules
        (required if rules.required else others).append(_set(cls, field))
    parts = [*required, *(st.one_of(st.just(cls()), other) for other in others)]
    return st.tuples(*parts).map(lambda found: _join(cls, found))


def _join(cls: Any, parts: tuple[Any, ...]) -> Any:
    joined = cls()
    for part in parts:
        joined.MergeFrom(part)
    return joined


_REFERENCES = st.builds(secretpb.SecretReference, name=st.just("team-secret"), key=st.just("value"))
_FACTS = st.sampled_from([contentpb.FACT_KIND_LOCAL_HOSTNAME, contentpb.FACT_KIND_PRIVATE_IPV4]).map(
    lambda kind: contentpb.MachineFact(kind=kind)
)
_SEGMENTS = st.one_of(
    st.binary(min_size=1, max_size=20).map(lambda data: contentpb.Segment(data=data)),
    _REFERENCES.map(lambda reference: contentpb.Segment(secret_ref=reference)),
    _FACTS.map(lambda fact: contentpb.Segment(fact=fact)),
)
_SPECIAL: dict[str, st.SearchStrategy[Any]] = {
    "slipway.v1alpha1.Content": st.lists(_SEGMENTS, max_size=3).map(lambda parts: contentpb.Content(segments=parts)),
    "slipway.v1alpha1.SecretValue": _REFERENCES.map(lambda one: secretpb.SecretValue(secret_ref=one)),
    "slipway.v1alpha1.MachineText": st.one_of(
        st.just(contentpb.MachineText(value="node-1")),
        _FACTS.map(lambda fact: contentpb.MachineText(segments=[contentpb.TextSegment(fact=fact)])),
    ),
}
