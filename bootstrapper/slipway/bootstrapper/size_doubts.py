"""Says of which formats the user data may be too large with the real secrets, though they fit with placeholders.

A question has none of a Secret's bytes. A warning at each of them would be one that nobody reads: so it is said only
where they can matter, by a bound for what one of them adds.
"""

from collections.abc import Iterable, Iterator, Sequence

from slipway.bootstrapper.delivery.infrastructure import Counted, infrastructure
from slipway.bootstrapper.verdicts import Column
from slipway.contract.secret_references import references
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb

SECRET_BOUND = 8 * 1024
"""Bytes that each place which refers to a Secret of the user's is taken to add: a kubeconfig with RSA-2048 certificates
(5.6 kB), once more in base64. Keys, certificates, passwords and pull secrets are smaller."""


def size_doubts(columns: Iterable[Column]) -> Iterator[diagnosticpb.Diagnostic]:
    """Warn of formats whose user data may be too large with the real secrets.

    Placeholders of a cluster's secrets are as long, but compress better. Those of a user's own are short, whatever the
    Secrets hold: each place that refers to one counts as SECRET_BOUND.
    """
    near, uncounted = [], []
    for column in columns:
        name = column.candidate.format.format
        if _is_doubted(column, referred=0):
            near.append(name)
        elif _is_doubted(column, referred=SECRET_BOUND):
            uncounted.append(name)
    if near:
        yield _doubt(near, "", "")
    if uncounted:
        since = f" with {SECRET_BOUND} bytes in each place that refers to a Secret, which are not counted here"
        yield _doubt(uncounted, since, ", with the Secrets among its files")


def _doubt(formats: Sequence[str], since: str, how: str) -> diagnosticpb.Diagnostic:
    names = ", ".join(formats)
    return diagnosticpb.Diagnostic(
        severity=diagnosticpb.SEVERITY_WARNING,
        code="SIZE_DOUBTED",
        message=f"the user data may be too large for the infrastructure in {names}{since}: slipway size shows{how}",
    )


def _is_doubted(column: Column, *, referred: int) -> bool:
    """Return whether user data that fit would not, if secrets did not compress and the user's had so many bytes.

    A secret as text has, after gzip and base64, about the bytes that it has.
    """
    if column.fitted is None or column.compiled is None:
        return False
    bundle, size, info = column.compiled.bundle, column.fitted.size, column.candidate.format
    row = infrastructure(bundle.machine.target, verbatim=info.verbatim)
    if referred:
        referred *= sum(_is_of_user(reference.name) for _, reference in references(bundle))
    whole = _counted(size, squeezed=row.counted is Counted.GZIP_BASE64, encoded=row.counted is not Counted.RAW)
    most = [whole + referred + (_cluster_secrets(bundle) if row.counted is Counted.GZIP_BASE64 else 0)]
    if info.accepts_gzip and row.gzip:
        squeezed = _counted(size, squeezed=True, encoded=row.counted is not Counted.RAW)
        most.append(squeezed + referred + _cluster_secrets(bundle))
    return min(most) > (row.larger.limit_bytes if row.larger else size.limit_bytes)


def _counted(size: bootstrappb.Size, *, squeezed: bool, encoded: bool) -> int:
    """Give the bytes of user data, after gzip where `squeezed`, and after base64 where `encoded`."""
    plain = size.gzip_bytes if squeezed else size.raw_bytes
    return -(-plain // 3) * 4 if encoded else plain


def _cluster_secrets(bundle: bundlepb.BootstrapBundle) -> int:
    """Give the bytes of the secrets that are no user's: their placeholders are as long."""
    return sum(len(secret.value) for secret in bundle.secrets.secrets if not _is_of_user(secret.name))


def _is_of_user(name: str) -> bool:
    """Return whether a secret is a user's Secret: names of all others have a domain."""
    return "/" not in name
