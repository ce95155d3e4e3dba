"""Where user data fits: what each infrastructure would make of it, by the rules by which the bootstrapper delivers."""

from dataclasses import asdict, dataclass

from slipway.bootstrapper.delivery.infrastructure import compress, infrastructure, infrastructures
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

YES, GZIP, NO = "yes", "gzip", "no"


@dataclass(frozen=True, slots=True)
class Fit:
    """What one infrastructure would make of user data.

    Attributes:
        limit: most bytes that it takes of this format.
        raw: bytes of the user data as it counts them.
        gzip: bytes after gzip as it counts them; None where infrastructure or format does not take gzip.
        fits: "yes", "gzip" (only compressed) or "no".
        why: what the verdict or the limit depends on, for people; "" in the common case.
    """

    limit: int
    raw: int
    gzip: int | None
    fits: str
    why: str = ""

    def tree(self) -> dict[str, object]:
        """Give it as plain data."""
        return asdict(self)


def all_fits(
    answer: bootstrappb.GetUserDataResponse, info: provisionerpb.FormatInfo | None, *, unchanged: bool
) -> dict[str, Fit]:
    """Give the fit for every infrastructure of the table, by its name.

    Args:
        answer: the user data, not compressed.
        info: what its provisioner declares of the format; None where no registry is known, and gzip is a guess then.
        unchanged: the machine's target says that its provider passes user data on unchanged.
    """
    return {
        name: fit(clusterpb.Target(infrastructure=name, user_data_unchanged=unchanged), answer, info)
        for name in infrastructures()
    }


def fit(
    target: clusterpb.Target, answer: bootstrappb.GetUserDataResponse, info: provisionerpb.FormatInfo | None
) -> Fit:
    """Give the fit for the infrastructure of a machine; that of a data Secret where it is not known."""
    row = infrastructure(target, verbatim=info is not None and info.verbatim)
    limit = row.larger.limit_bytes if row.larger else row.limit_bytes
    raw = row.count(answer.user_data)
    if info is not None and info.verbatim and not row.verbatim:
        return Fit(limit, raw, None, NO, "hands no user data to the machine unchanged, as the format needs it")
    takes_gzip = row.gzip and (info is None or info.accepts_gzip)
    squeezed = row.count(compress(answer.user_data)) if takes_gzip else None
    if raw <= row.limit_bytes:
        return Fit(row.limit_bytes, raw, squeezed, YES)
    if squeezed is not None and squeezed <= row.limit_bytes:
        guess = "if the format takes gzip, which only a registry knows: add --registry HOST:PORT"
        return Fit(row.limit_bytes, raw, squeezed, GZIP, guess if info is None else "")
    return Fit(limit, raw, squeezed, YES if raw <= limit else NO, row.assumption())
