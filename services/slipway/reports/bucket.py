"""Buckets of S3, GCS and Azure, and folders, by their URLs; the environment says how each is reached."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

import obstore
from obstore.exceptions import BaseError
from obstore.store import AzureStore, GCSStore, S3Store, from_url

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore

    from slipway.reports.capability import Target

AUTHORITIES = "SSL_CERT_FILE"
"""The variable by which OpenSSL and Go find the authorities that they trust: a file of certificates in PEM."""

MOST_HOURS = 7 * 24
"""S3 signs for no longer (AWS, "Authenticating Requests: Using Query Parameters", X-Amz-Expires)."""
_RULE = "must be s3://, gs:// or az://, with credentials in the environment that sign"
_SETTINGS = (
    *("allow_http", "allow_invalid_certificates", "connect_timeout", "http1_only", "http2_only", "pool_idle_timeout"),
    *("pool_max_idle_per_host", "proxy_ca_certificate", "proxy_excludes", "proxy_url", "read_timeout", "timeout"),
    "user_agent",
)
_PREFIXES = {"s3": "AWS_", "gs": "GOOGLE_", "az": "AZURE_"}


def open_bucket(url: str) -> ObjectStore:
    """Open a bucket or a folder; authorities in the file that SSL_CERT_FILE names are trusted beside the system's.

    Raises:
        BaseError, ValueError: the URL, or what the environment says of it, cannot be used.
        OSError: the file of authorities cannot be read.
    """
    file = os.environ.get(AUTHORITIES)
    if not file or url.startswith("file:"):
        return from_url(url)
    # With options the library reads none of its own out of the environment.
    prefix = _PREFIXES.get(url.partition(":")[0], "AWS_")
    words = {name: os.environ.get(f"{prefix}{name.upper()}") for name in _SETTINGS}
    options = {name: word for name, word in words.items() if word is not None}
    options["root_certificate"] = Path(file).read_text(encoding="ascii", errors="ignore")
    return from_url(url, client_options=cast("ClientConfig", options))


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
