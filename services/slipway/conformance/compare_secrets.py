"""Compares the credentials of an intent with the secrets that a machine holds: each that it needs, and no other.

A name tells which secret is meant. Where the decoder knows none of the provisioner's names, the value alone must do.
"""

from collections.abc import Iterable, Mapping

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import plan_pb2 as planpb

_CERTIFICATE, _KEY = "tls.crt", "tls.key"
_TOLD_ELSEWHERE = {("cluster_ca", _CERTIFICATE), ("service_account", _CERTIFICATE)}
"""The authority is compared by itself, and a public key follows from the private one."""


def secrets_hold(
    credentials: planpb.ClusterCredentials,
    held: Iterable[statepb.HeldSecret],
    secrets: Mapping[tuple[str, str], bytes],
) -> bool:
    """Whether a machine holds the secrets that its credentials refer to; `secrets` has the values by name and key."""
    wanted = {
        (one.name, one.key): secrets.get((one.name, one.key), b"")
        for one in credentials.declared
    }  # fmt: skip
    for descriptor, pair in credentials.ListFields():
        if isinstance(pair, planpb.KeyPairReference):
            for part, one in ((_CERTIFICATE, pair.certificate), (_KEY, pair.private_key)):
                if one.name:
                    wanted[descriptor.name, part] = secrets.get((one.name, one.key), b"")
    there = {(secret.name, secret.key): secret.value for secret in held}
    return all(_fits(id_, value, wanted) for id_, value in there.items()) and all(
        _fits(id_, value, there) for id_, value in wanted.items() if id_ not in _TOLD_ELSEWHERE
    )


def _fits(id_: tuple[str, str], value: bytes, others: Mapping[tuple[str, str], bytes]) -> bool:
    """Whether a secret is the other one of its name, or any of them if no other has its name."""
    candidates = [others[id_]] if id_ in others else list(others.values())
    return bool(value) and any(_same(value, candidate) for candidate in candidates)


def _same(left: bytes, right: bytes) -> bool:
    if left.strip() == right.strip():
        return True
    public = _public(left)
    return bool(public) and public == _public(right)


def _public(pem: bytes) -> bytes:
    """Give the public half of a key, however it is written; nothing when it cannot be read."""
    try:
        key = load_pem_private_key(pem, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return b""
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
