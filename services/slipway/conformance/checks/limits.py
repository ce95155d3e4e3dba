"""LIM: sizes, and what happens just above them."""

import base64
import hashlib
from functools import cache

from slipway.conformance import requests
from slipway.conformance.answer import Answer
from slipway.conformance.check import Checks
from slipway.conformance.checks.meaning import compared
from slipway.conformance.outcome import NotRun, Unverified, all_hold, expect
from slipway.conformance.session import Session
from slipway.conformance.yardstick import judge
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
MOST_BUNDLE, MOST_USER_DATA, MOST_FILES = 2 * 1024 * 1024, 1024 * 1024, 512
_CHUNK = 256 * 1024
_TOO_LARGE = ("FAILED_PRECONDITION", "USER_DATA_TOO_LARGE")


@CHECKS.check_format("LIM-001")
async def largest_bundle(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A bundle of exactly 2 MiB is taken, whatever the request has besides; its user data may then be too large."""
    request = await _sized(session, info, MOST_BUNDLE)
    request.request_tag = "t" * 4096
    got = await session.subject.render(request)
    right = got.ok or (got.code, got.info.reason) in (_TOO_LARGE, ("FAILED_PRECONDITION", "UNSUPPORTED_FEATURE"))
    expect(right, f"with a bundle of {MOST_BUNDLE} bytes it ended with {got.described()}")


@CHECKS.check_format("LIM-002")
async def too_large_bundle(session: Session, info: provisionerpb.FormatInfo) -> None:
    """One byte more is refused."""
    request = await _sized(session, info, MOST_BUNDLE + 1)
    got = await session.subject.render(request)
    right = (got.code, got.info.reason) == ("INVALID_ARGUMENT", "BUNDLE_TOO_LARGE")
    expect(right, f"with a bundle of {MOST_BUNDLE + 1} bytes it ended with {got.described()}")
    said = (got.info.metadata.get("size"), got.info.metadata.get("limit"))
    expect(
        said == (str(MOST_BUNDLE + 1), str(MOST_BUNDLE)),
        "the metadata keys `size` and `limit` are not the numbers of bytes",
    )


@CHECKS.check_format("LIM-003")
async def user_data_limit(session: Session, info: provisionerpb.FormatInfo) -> None:
    """One byte too many is refused, and exactly as many as allowed are given; bytes, and not characters."""
    request = await session.base(info)
    if "os.files" in {support.id for support in info.features}:
        wide = requests.merged(request, requests.files(requests.file("wide", "ü ∂ 😀\n".encode())), info)
        request = wide if (await session.subject.render(wide)).ok else request
    size = len((await session.subject.rendered(request)).user_data)
    request.max_user_data_bytes = size
    got = await session.subject.render(request)
    expect(got.ok, f"with exactly as many bytes as allowed it ended with {got.described()}")
    request.max_user_data_bytes = size - 1
    got = await session.subject.render(request)
    _is_too_large(got, limit=size - 1)
    expect(got.info.metadata["size"] == str(size), "the metadata key `size` is not the number of bytes")
    request.validate_only = True
    _is_too_large(await session.subject.render(request), limit=size - 1)


@CHECKS.check_format("LIM-004")
async def default_limit(session: Session, info: provisionerpb.FormatInfo) -> None:
    """0 means 1 MiB."""
    request = await _sized(session, info, MOST_BUNDLE)
    got = await session.subject.render(request)
    if got.info.reason == "UNSUPPORTED_FEATURE" or (got.ok and len(got.response.user_data) <= MOST_USER_DATA):
        raise NotRun("a bundle of 2 MiB gives less than 1 MiB of user data in this format")
    _is_too_large(got, limit=MOST_USER_DATA)


@CHECKS.check_format("LIM-004")
async def generous_limit(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A limit of 4 GiB is no error, nor is the largest number that there is: who reads it with a sign gets -1."""
    request = await session.base(info)
    for limit, name in ((1 << 32, "4 GiB"), ((1 << 64) - 1, "2^64 - 1 bytes")):
        request.max_user_data_bytes = limit
        got = await session.subject.render(request)
        expect(got.ok, f"with a limit of {name} it ended with {got.described()}")


@CHECKS.check_format("LIM-005", features=("os.files",))
async def many_files(session: Session, info: provisionerpb.FormatInfo) -> None:
    """512 files are taken."""
    base = await session.base(info)
    more = MOST_FILES - len(base.bundle.os.files)
    of = requests.files(*(requests.file(f"many/{number}", b"x\n") for number in range(more)))
    request = requests.merged(base, of, info)
    got = await session.subject.render(request)
    right = got.ok or (got.code, got.info.reason) == _TOO_LARGE
    expect(right, f"with {MOST_FILES} files it ended with {got.described()}")
    if got.ok:
        await _all_there(session, info, request)


async def _all_there(session: Session, info: provisionerpb.FormatInfo, request: provisionerpb.RenderRequest) -> None:
    """See that the user data have every file of a request.

    Raises:
        Broken: one is lacking, or another one.
        Unverified: nobody can read the user data.
    """
    found = await compared(session, info, request)
    all_hold(found.problems)
    if "os.files" in found.unverified:
        raise Unverified("the decoder does not see os.files")


@CHECKS.check_format("LIM-006")
async def in_time(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A large bundle is rendered in time."""
    request = await _sized(session, info, MOST_USER_DATA * 6 // 10)
    most = session.options.patience.render
    got = await session.subject.render(request, seconds=2 * most)
    size = request.bundle.ByteSize()
    expect(got.code != "UNAVAILABLE", f"a bundle of {size} bytes ended with {got.described()}")
    judge(
        f"a bundle of {size} bytes took longer than {most:.0f} seconds",
        got.seconds,
        most,
        slow=session.heartbeat.slowness,
    )


def _is_too_large(got: Answer, *, limit: int) -> None:
    expect((got.code, got.info.reason) == _TOO_LARGE, f"with too much user data it ended with {got.described()}")
    expect(got.info.metadata.get("limit") == str(limit), "the metadata key `limit` is not the number of bytes allowed")
    expect(got.info.metadata.get("size"), "the metadata key `size` is missing")


@cache
def _incompressible(size: int) -> bytes:
    """Give text that no compression makes much smaller, always the same."""
    rounds = (hashlib.sha256(str(number).encode()).digest() for number in range(size // 32))
    return base64.b64encode(b"".join(rounds))[:size]


async def _sized(session: Session, info: provisionerpb.FormatInfo, size: int) -> provisionerpb.RenderRequest:
    """Give a request whose bundle has exactly so many bytes: by files, or where there are none by provenance."""
    base = await session.base(info)
    if "os.files" in {support.id for support in info.features}:
        text = _incompressible(_CHUNK)
        count = (size - base.bundle.ByteSize()) // (_CHUNK + 256)
        of = requests.files(*(requests.file(f"large-{number}", text) for number in range(count)))
        base = requests.merged(base, of, info)
    # Text of provenance fills up to the byte; the number that says its own length may take one byte more or less.
    lacking = size - base.bundle.ByteSize()
    for guess in range(lacking - 16, lacking):
        base.bundle.provenance.spec_digest = "f" * guess
        if base.bundle.ByteSize() == size:
            return base
    # A length that no text can make by itself is made by two.
    base.bundle.provenance.engine = "f"
    for guess in range(lacking - 32, lacking):
        base.bundle.provenance.spec_digest = "f" * guess
        if base.bundle.ByteSize() == size:
            return base
    raise AssertionError("a bundle of that size cannot be made")
