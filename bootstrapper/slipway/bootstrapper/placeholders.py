"""Stand-ins for a user's secrets, for questions that must need none: explain, validate, size, diff."""

from google.protobuf.message import Message

from slipway.bootstrapper.assembly.secrets import INLINE
from slipway.bootstrapper.credentials.cluster_secrets import ENCRYPTION_KEY
from slipway.contract.secret_references import references
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

PLACEHOLDER = b"placeholder"


def user_placeholders(spec: specpb.MachineBootstrapSpec, plan: planpb.Plan | None = None) -> secretpb.SecretMaterial:
    """Give a value for every secret that a spec, and a plan of the caller's own, refers to.

    The key that a compliance profile refers to is the cluster's: the store has it.
    """
    parts: list[Message] = [spec] if plan is None else [spec, plan]
    secrets = {(secret.name, secret.key) for part in parts for _, secret in references(part)}
    secrets = {(name, key) for name, key in secrets if name != ENCRYPTION_KEY}
    return secretpb.SecretMaterial(
        secrets=[
            secretpb.Secret(name=name, key=key, kind=secretpb.SECRET_KIND_OPAQUE, value=PLACEHOLDER)
            for name, key in sorted(secrets)
        ]
    )


def hidden(secret: secretpb.Secret) -> secretpb.Secret:
    """Give a secret whose value stands in a spec itself with a placeholder of its length; others are ones already."""
    if secret.name != INLINE:
        return secret
    result = secretpb.Secret()
    result.CopyFrom(secret)
    size = len(secret.value)
    result.value = (PLACEHOLDER * (size // len(PLACEHOLDER) + 1))[:size]
    return result
