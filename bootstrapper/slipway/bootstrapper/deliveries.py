"""How the user data of each format reach the machine: as they are, compressed, or fetched; with size and limit."""

from collections.abc import Iterable, Iterator

from slipway.bootstrapper.delivery.fitting import GZIP
from slipway.bootstrapper.delivery.infrastructure import ANY_LIMIT
from slipway.bootstrapper.delivery.stubs.formats import MOST_BYTES
from slipway.bootstrapper.verdicts import Column
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb

DELIVERY = "DELIVERY"
"""Code of the diagnostic about one format, whose message begins with its id and ": "."""


def deliveries(columns: Iterable[Column], *, is_fetched: bool) -> Iterator[diagnosticpb.Diagnostic]:
    """Report the delivery of each format that fits.

    Sizes are those with placeholders of secrets, which are as long as the secrets of a cluster.

    Args:
        columns: the formats; where engines are compared, there is no one delivery of a format, and nothing is reported.
        is_fetched: the machine is to fetch its user data, and may.
    """
    for column in columns:
        if column.fitted is None or column.compiled is None or column.engine:
            continue
        infrastructure = column.compiled.bundle.machine.target.infrastructure
        if is_fetched:
            how = fetched_words(column.fitted.size.raw_bytes, len(column.trial.user_data))
        else:
            how = inline_words(column.fitted.size, infrastructure, compressed=column.fitted.encoding == GZIP)
        yield diagnosticpb.Diagnostic(
            severity=diagnosticpb.SEVERITY_INFO, code=DELIVERY, message=f"{column.candidate.format.format}: {how}"
        )


def inline_words(size: bootstrappb.Size, infrastructure: str, *, compressed: bool) -> str:
    """Describe user data that are delivered inline."""
    how = "inline, compressed" if compressed else "inline"
    taker = infrastructure or "a data Secret"
    return f"{how}: {size.counted_bytes} bytes of at most {size.limit_bytes} that {taker} takes"


def fetched_words(stub: int, payload: int) -> str:
    """Describe user data that are fetched, by the bytes of the stub and of the payload."""
    return f"fetched: a stub of {stub} bytes of at most {MOST_BYTES}, a payload of {payload} of at most {ANY_LIMIT}"
