"""What a controller does with a payload, as a program: it runs in the network of a bucket, where no test is.

`python -m tests.services.node_gateway.signing_controller BUCKET ADDRESS SECONDS` stores what it reads, and prints the
signed address of it, which is valid so long. With 0 seconds it waits until the address is not valid any more.
"""

import asyncio
import os
import ssl
import sys
from datetime import timedelta
from urllib.error import HTTPError
from urllib.request import urlopen

from slipway.bootstrapper.delivery.fetching import Fetching, Payload, payload_name
from slipway.controller.payloads import Payloads
from slipway.reports.objects import Objects

NAME = payload_name("ticket-of-machine-a")
_REFUSED = 403


async def sign(bucket: str, address: str, seconds: int, data: bytes) -> str:
    """Store a payload; give its signed address."""
    payloads = Payloads(Objects.of(bucket), Fetching(frozenset({"metal"}), address), presigned=True)
    try:
        payloads.check_presigned()
        await payloads.store(Payload(NAME, payloads.fetching.url(NAME), data), namespace="default")
        signed = payloads.objects.signed_address(f"payload/{NAME}", timedelta(seconds=max(seconds, 1)))
    finally:
        payloads.objects.close()
    while not seconds and await asyncio.to_thread(_status, signed) != _REFUSED:  # noqa: ASYNC110  # the store's clock
        await asyncio.sleep(0.2)
    return signed


def _status(url: str) -> int:
    context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
    try:
        with urlopen(url, context=context) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(sign(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.stdin.buffer.read())))
