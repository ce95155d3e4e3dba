"""How user data reach one machine, for `slipway size`: inline, compressed, or fetched, with size and limit."""

from typing import Any

from slipway.bootstrapper.deliveries import fetched_words, inline_words
from slipway.bootstrapper.delivery.infrastructure import ANY_LIMIT
from slipway.bootstrapper.delivery.stubs.formats import MOST_BYTES
from slipway.cli.backend import Backend
from slipway.cli.fits import GZIP, NO, Fit
from slipway.contract.errors import SlipwayError
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_REFUSED = "refused"


def inline_delivery(target: clusterpb.Target, fit: Fit) -> dict[str, Any]:
    """Describe user data that their infrastructure takes, or does not; bytes are as it counts them."""
    compressed = fit.fits == GZIP
    counted = fit.gzip if compressed and fit.gzip is not None else fit.raw
    size = bootstrappb.Size(limit_bytes=fit.limit, counted_bytes=counted)
    words, how = (
        inline_words(size, target.infrastructure, compressed=compressed),
        "compressed" if compressed else "inline",
    )
    if fit.fits == NO:
        how, words = _REFUSED, f"{_REFUSED}, {words}"
    return {"how": how, "bytes": size.counted_bytes, "limit": fit.limit, "words": words}


async def fetched_delivery(backend: Backend, request: bootstrappb.GetUserDataRequest) -> dict[str, Any]:
    """Ask for user data that are fetched, and describe stub and payload; or why they cannot be."""
    try:
        answer = await backend.user_data(request)
    except SlipwayError as error:
        return {"how": _REFUSED, "bytes": 0, "limit": MOST_BYTES, "words": f"{_REFUSED}, fetched: {error.message}"}
    stub, payload = len(answer.user_data), sum(len(each.content) for each in answer.attachments if each.url)
    return {
        "how": "fetched",
        "bytes": stub,
        "limit": MOST_BYTES,
        "payload_bytes": payload,
        "payload_limit": ANY_LIMIT,
        "words": fetched_words(stub, payload),
    }
