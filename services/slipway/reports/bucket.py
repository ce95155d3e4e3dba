"""Buckets of S3, GCS and Azure, and folders, by their URLs; the environment says how each is reached."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from obstore.store import from_url

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore

AUTHORITIES = "SSL_CERT_FILE"
"""The variable by which OpenSSL and Go find the authorities that they trust: a file of certificates in PEM."""


def open_bucket(url: str) -> ObjectStore:
    """Open a bucket or a folder; authorities in the file that SSL_CERT_FILE names are trusted beside the system's.

    Raises:
        BaseError, ValueError: the URL, or what the environment says of it, cannot be used.
        OSError: the file of authorities cannot be read.
    """
    file = os.environ.get(AUTHORITIES)
    if not file or url.startswith("file:"):
        return from_url(url)
    options: ClientConfig = {"root_certificate": Path(file).read_bytes()}
    return from_url(url, client_options=options)
