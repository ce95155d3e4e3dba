"""gzip that gives the same bytes for the same input, whenever and wherever it runs."""

import gzip


def compress(data: bytes) -> bytes:
    """Compress without a time in the header, so that the result depends on the input alone."""
    return gzip.compress(data, compresslevel=9, mtime=0)
