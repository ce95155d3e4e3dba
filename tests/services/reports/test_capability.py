"""An address lets one machine write one object until a time, and nothing else."""

from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given

from slipway.reports.capability import Capabilities, KeyFileInvalid, Kind, Refused, Target
from slipway.reports.names import BundleKey
from tests.services.reports.made import KEY
from tests.services.reports.test_names import KEYS

NOW = 1_800_000_000
OLD, NEW = b"o" * 32, b"n" * 32
TARGET = Target(KEY, Kind.EVENTS)


def split(address: str) -> tuple[list[str], dict[str, str]]:
    """Give the decoded parts behind /reports/ and the query of an address."""
    parts = urlsplit(address)
    return [unquote(part) for part in parts.path.split("/")[2:]], dict(parse_qsl(parts.query))


@given(KEYS)
def test_an_address_is_for_its_object(key: BundleKey) -> None:
    """What was signed is read again, whatever the names are."""
    capabilities = Capabilities([OLD])
    for kind in Kind:
        parts, query = split(capabilities.address(Target(key, kind), expires=NOW + 1))
        assert capabilities.check(parts, query, now=NOW) == Target(key, kind)


@pytest.mark.parametrize(
    ("index", "text", "reason"),
    [
        (0, "other", "another namespace"), (1, "other", "another cluster"), (2, "worker-2", "another machine"),
        (3, "0123456789abcdee", "another bundle"), (4, "logs", "another kind"), (4, "secrets", "no kind at all"),
        (2, "../worker-1", "a way out"), (2, "worker-1/x", "a part more"), (2, "Worker-1", "another spelling"),
    ],
)  # fmt: skip
def test_another_object_is_refused(index: int, text: str, reason: str) -> None:
    """Each part of the name is signed."""
    capabilities = Capabilities([OLD])
    parts, query = split(capabilities.address(TARGET, expires=NOW + 1))
    parts[index] = text
    with pytest.raises(Refused):
        capabilities.check(parts, query, now=NOW)
    assert reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"expires": str(NOW + 100)}, "a later time"), ({"expires": f"0{NOW + 1}"}, "another spelling of the time"),
        ({"expires": ""}, "no time"), ({"expires": "٣"}, "digits of another script"), ({"expires": "9" * 5000}, "long"),
        ({"signature": ""}, "no signature"), ({"signature": "0" * 64}, "another signature"),
        ({"signature": "é" * 64}, "letters that cannot be compared"),
    ],
)  # fmt: skip
def test_another_time_or_signature_is_refused(change: dict[str, str], reason: str) -> None:
    """The time is signed, too, in one spelling."""
    capabilities = Capabilities([OLD])
    parts, query = split(capabilities.address(TARGET, expires=NOW + 1))
    with pytest.raises(Refused):
        capabilities.check(parts, query | change, now=NOW)
    assert reason


def test_an_address_expires() -> None:
    """At its time it is over."""
    capabilities = Capabilities([OLD])
    parts, query = split(capabilities.address(TARGET, expires=NOW))
    capabilities.check(parts, query, now=NOW - 0.1)
    with pytest.raises(Refused, match="expired"):
        capabilities.check(parts, query, now=NOW)


def test_keys_are_changed_without_a_gap() -> None:
    """A new key signs while the old one is still accepted; without the old one its addresses are refused."""
    parts, query = split(Capabilities([OLD]).address(TARGET, expires=NOW + 1))
    assert Capabilities([NEW, OLD]).check(parts, query, now=NOW) == TARGET
    with pytest.raises(Refused):
        Capabilities([NEW]).check(parts, query, now=NOW)
    parts, query = split(Capabilities([NEW, OLD]).address(TARGET, expires=NOW + 1))
    assert Capabilities([NEW]).check(parts, query, now=NOW) == TARGET


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "no key"), (b"\n \n", "no key"), (b"short\n", "too short"), (b"x" * 5000, "too large"),
     (b"\n".join([OLD] * 5), "too many"), (None, "no file")],
)  # fmt: skip
def test_a_file_without_good_keys_is_refused(tmp_path: Path, content: bytes | None, reason: str) -> None:
    """The message names the file and says nothing of what is in it."""
    path = tmp_path / "keys"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(KeyFileInvalid) as refused:
        Capabilities.of_file(path)
    assert "short\n" not in str(refused.value)
    assert str(path) in str(refused.value), reason
    assert "oooo" not in repr(Capabilities([OLD]))


def test_keys_are_read(tmp_path: Path) -> None:
    """One a line, and white space around them is no part of them."""
    path = tmp_path / "keys"
    path.write_bytes(b"\n" + NEW + b"\r\n" + OLD + b"  \n\n")
    assert Capabilities.of_file(path).keys == [NEW, OLD]
