"""Pre-signed URLs: addresses in a bucket, each of which one machine may write one object to; a gateway looks there."""

from datetime import timedelta

import obstore
from obstore.exceptions import BaseError
from obstore.store import AzureStore, GCSStore, S3Store

from slipway.reports.bucket import open_bucket
from slipway.reports.capability import Target

MOST_HOURS = 7 * 24
"""S3 signs for no longer (AWS, "Authenticating Requests: Using Query Parameters", X-Amz-Expires)."""
_RULE = "must be s3://, gs:// or az://, with credentials in the environment that sign"


class BucketInvalid(ValueError):  # noqa: N818  # subject and state, as the contract names its errors
    """A bucket cannot sign addresses; the text says why, and nothing of its credentials."""


def presigned_url(bucket: str, target: Target, *, seconds: int) -> str:
    """Give the address by which a machine writes an object, valid for so many seconds.

    Args:
        bucket: s3://BUCKET/PREFIX, gs://... or az://...; the credentials that sign are in the environment.
        target: what is written.
        seconds: from now.

    Raises:
        BucketInvalid: the URL, or what the environment has for it, cannot be used.
    """
    try:
        store = open_bucket(bucket)
        if isinstance(store, S3Store | GCSStore | AzureStore):
            return obstore.sign(store, "PUT", target.object_name, timedelta(seconds=seconds))
    except (BaseError, ValueError, OSError) as error:
        # The message of a store may quote what it was given.
        raise BucketInvalid(f"{_RULE}: {type(error).__name__}") from None
    raise BucketInvalid(_RULE)
