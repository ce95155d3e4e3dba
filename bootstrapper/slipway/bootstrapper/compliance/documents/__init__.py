"""Documents of Kubernetes' own that controls ask for, as they are written to the machine."""

from functools import cache
from importlib.resources import files

from slipway.bootstrapper.credentials.cluster_secrets import ENCRYPTION_KEY
from slipway.contract.content import literal
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import secret_pb2 as secretpb

_KEY = '"KEY"'


def audit_policy() -> contentpb.Content:
    """Give a policy that records who changed what; of secrets and tokens only who touched them."""
    return literal(_text("audit-policy").encode())


def rate_limit() -> contentpb.Content:
    """Give the configuration of the admission plugin EventRateLimit, without which it does not start."""
    return literal(_text("admission").encode())


def encryption_configuration() -> contentpb.Content:
    """Give the encryption of secrets with the cluster's key, by reference; what is not encrypted yet stays readable."""
    before, after = _text("encryption-configuration").split(_KEY)
    key = contentpb.Segment(
        secret_ref=secretpb.SecretReference(name=ENCRYPTION_KEY, key="value"),
        encoding=contentpb.SPLICE_ENCODING_JSON_STRING,
    )
    return contentpb.Content(segments=[contentpb.Segment(text=before), key, contentpb.Segment(text=after)])


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath(f"{name}.yaml").read_text("utf-8")
