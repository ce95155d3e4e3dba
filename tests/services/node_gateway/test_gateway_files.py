"""What the gateway serves: files by digest and payloads by ticket, whole and in parts, and nothing else."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from slipway.node_gateway.ranges import ByteRange, Unsatisfiable, parse_range
from tests.services.node_gateway.served import CONTENT, DIGEST, PAYLOAD, TICKET, gateway

BLOB = f"/sha256/{DIGEST}"
PAYLOAD_PATH = f"/payload/{PAYLOAD}"
BEARER = {"Authorization": f"Bearer {TICKET}"}


async def test_a_file_is_served_by_its_digest(tmp_path: Path) -> None:
    """GET gives the bytes, HEAD their size; both say that they never change."""
    async with gateway(tmp_path) as client:
        async with client.get(BLOB) as answer:
            assert (answer.status, await answer.read()) == (200, CONTENT)
            assert answer.headers["ETag"] == f'"{DIGEST}"'
            assert "immutable" in answer.headers["Cache-Control"]
        async with client.head(BLOB) as answer:
            assert (answer.status, answer.headers["Content-Length"]) == (200, str(len(CONTENT)))
            assert await answer.read() == b""
        async with client.get(BLOB, headers={"If-None-Match": f'"{DIGEST}"'}) as answer:
            assert (answer.status, await answer.read()) == (304, b"")


RANGES = [
    ({"Range": "bytes=10-19"}, 206, CONTENT[10:20], "a range"),
    ({"Range": "bytes=262100-"}, 206, CONTENT[262100:], "to the end, as a download that goes on asks"),
    ({"Range": "bytes=-5"}, 206, CONTENT[-5:], "the last bytes"),
    ({"Range": "bytes=0-99999999"}, 206, CONTENT, "an end behind the end"),
    ({"Range": f"bytes={len(CONTENT)}-"}, 416, b"416: Requested Range Not Satisfiable", "a start behind the end"),
    ({"Range": "bytes=0-1,5-6"}, 200, CONTENT, "several ranges, which a server may leave aside"),
    ({"Range": "lines=1-2"}, 200, CONTENT, "another unit"),
    ({"Range": "bytes=9-3"}, 200, CONTENT, "no range"),
    ({"Range": "bytes=0-1", "If-Range": f'"{DIGEST}"'}, 206, CONTENT[:2], "a range of what is there still"),
    ({"Range": "bytes=0-1", "If-Range": '"other"'}, 200, CONTENT, "a range of what is no longer there"),
]


@pytest.mark.parametrize(("headers", "status", "body", "reason"), RANGES, ids=[range_[-1] for range_ in RANGES])
async def test_parts_of_a_file(tmp_path: Path, headers: dict[str, str], status: int, body: bytes, reason: str) -> None:
    """A download that was cut off goes on where it stopped."""
    async with gateway(tmp_path) as client, client.get(BLOB, headers=headers) as answer:
        assert (answer.status, await answer.read()) == (status, body), reason
        if status == 416:
            assert answer.headers["Content-Range"] == f"bytes */{len(CONTENT)}"


@pytest.mark.parametrize("header", ["bytes=" + "9" * 5000 + "-", "bytes=-", "bytes", "bytes=--1", "bytes=\u0661-"])
def test_a_hostile_range_is_left_aside(header: str) -> None:
    """What is no range is the whole file, however long it is."""
    assert parse_range(header, 100) is None


def test_a_range_of_an_empty_file_is_never_satisfiable() -> None:
    """There is no first byte; of a file with one byte there is."""
    assert parse_range("bytes=0-", 1) == ByteRange(0, 1)
    for header in ("bytes=0-", "bytes=-1", "bytes=0-0"):
        with pytest.raises(Unsatisfiable):
            parse_range(header, 0)


async def test_a_payload_needs_its_ticket(tmp_path: Path) -> None:
    """Its own ticket gives the payload, not to be stored; any other, or none, is answered as if it were not there."""
    async with gateway(tmp_path) as client:
        async with client.get(PAYLOAD_PATH, headers=BEARER) as answer:
            assert (answer.status, await answer.read()) == (200, b"#cloud-config\n")
            assert answer.headers["Cache-Control"] == "no-store"
            assert "ETag" not in answer.headers
        bodies = set()
        refused: list[tuple[str, dict[str, str]]] = [
            (PAYLOAD_PATH, {}),
            (PAYLOAD_PATH, {"Authorization": "Bearer ticket-of-machine-b"}),
            (PAYLOAD_PATH, {"Authorization": f"Basic {TICKET}"}),
            (PAYLOAD_PATH, {"Authorization": f"Bearer {PAYLOAD}"}),
            (f"/payload/{'0' * 64}", BEARER),
            (f"{PAYLOAD_PATH}?ticket={TICKET}", {}),
        ]
        for path, headers in refused:
            async with client.get(path, headers=headers) as answer:
                assert answer.status == 404, path
                bodies.add(await answer.read())
        assert len(bodies) == 1


@pytest.mark.parametrize(
    "path",
    ["/", "/sha256", "/sha256/", "/payload/", "/secret", "/sha256/../secret", "/sha256/%2e%2e/secret",
     f"/sha256/{DIGEST.upper()}", f"/sha256/{'0' * 64}", f"/sha256/{DIGEST}/", f"/sha256/{PAYLOAD}",
     f"/payload/{DIGEST}"],
)  # fmt: skip
async def test_nothing_is_listed_and_nothing_else_is_served(tmp_path: Path, path: str) -> None:
    """No folder, no other file, and no payload as a file."""
    async with gateway(tmp_path) as client, client.get(path, headers=BEARER) as answer:
        assert (answer.status, await answer.read()) == (404, b"404: Not Found")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
async def test_nothing_can_be_written(tmp_path: Path, method: str) -> None:
    """Only GET and HEAD are answered."""
    async with gateway(tmp_path) as client, client.request(method, BLOB, data=b"x") as answer:
        assert answer.status == 405
    assert (tmp_path / f"sha256/{DIGEST}").read_bytes() == CONTENT


async def test_a_log_line_has_no_secret(tmp_path: Path, capsys: Any) -> None:
    """Neither a ticket, nor a query, nor the name of a payload is in the access log; digest, status and size are."""
    async with gateway(tmp_path) as client:
        for path, headers in ((BLOB, {}), (PAYLOAD_PATH, BEARER), (f"/{TICKET}?{TICKET}", {})):
            async with client.get(path, headers=headers) as answer:
                await answer.read()
    lines = capsys.readouterr().out
    assert TICKET not in lines
    assert PAYLOAD not in lines
    assert DIGEST in lines
    assert "kind=payload" in lines
    assert f"bytes={len(CONTENT)}" in lines


async def test_a_larger_file_than_allowed_is_not_served(tmp_path: Path) -> None:
    """The limit of the settings holds."""
    for limit, status in ((len(CONTENT), 200), (len(CONTENT) - 1, 404)):
        async with gateway(tmp_path, max_blob_bytes=limit) as client, client.get(BLOB) as answer:
            assert answer.status == status
            await answer.read()


async def test_a_store_that_fails_is_not_an_absent_file(tmp_path: Path) -> None:
    """What cannot be read is answered with 503, so that a machine tries again."""
    async with gateway(tmp_path) as client:
        path = tmp_path / f"sha256/{DIGEST}"
        path.unlink()
        path.symlink_to(path.name)
        async with client.get(BLOB) as answer:
            assert (answer.status, "Retry-After" in answer.headers) == (503, True)
    await asyncio.sleep(0)


async def test_each_fetch_of_a_payload_is_noted(tmp_path: Path) -> None:
    """A note for each whole answer to a peer with the ticket, with its address; none for others, or for a file."""
    notes = tmp_path / "notes"
    async with gateway(tmp_path / "served", payload_notes=notes.as_uri()) as client:
        for _ in range(2):
            async with client.get(PAYLOAD_PATH, headers=BEARER) as answer:
                assert answer.status == 200
                await answer.read()
        for path, headers in ((PAYLOAD_PATH, {"Authorization": "Bearer other"}), (BLOB, {})):
            async with client.get(path, headers=headers) as answer:
                await answer.read()
        async with client.head(PAYLOAD_PATH, headers=BEARER) as answer:
            assert answer.status == 200
    written = [path for path in notes.rglob("*") if path.is_file()]
    assert {path.parent for path in written} == {notes / "fetched" / PAYLOAD}
    assert [path.read_bytes() for path in written] == [b"127.0.0.1"] * 2


async def test_notes_that_cannot_be_written_stop_no_machine(tmp_path: Path) -> None:
    """The payload is served as if nothing had to be noted."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "fetched").write_text("in the way")
    notes = (tmp_path / "notes").as_uri()
    async with (
        gateway(tmp_path / "served", payload_notes=notes) as client,
        client.get(PAYLOAD_PATH, headers=BEARER) as answer,
    ):
        assert (answer.status, await answer.read()) == (200, b"#cloud-config\n")
