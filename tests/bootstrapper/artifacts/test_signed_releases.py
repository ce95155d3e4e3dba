"""Only releases that are signed, young and new enough are taken; each other is refused by its own reason."""

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from slipway.bootstrapper.artifacts import dsse
from slipway.bootstrapper.artifacts.catalogue import Catalogue
from slipway.bootstrapper.artifacts.folder import ReleaseFolder
from slipway.bootstrapper.artifacts.refusal import ArtifactReason, ArtifactRefused
from slipway.bootstrapper.artifacts.release import PAYLOAD_TYPE, Release
from slipway.bootstrapper.artifacts.trust import Trust
from slipway.bootstrapper.artifacts.version import Version
from tests.bootstrapper.artifacts.releases import DIGEST, EXPIRES, NOW, PROGRAM, key, public_file, release_folder, trust

KEY, NEXT, FOREIGN = key(), key(), key()


def refusal(call: Callable[[], object]) -> ArtifactReason:
    """Give the reason by which a call refuses."""
    with pytest.raises(ArtifactRefused) as caught:
        call()
    return caught.value.reason


def envelope(tmp_path: Path, *keys: Any, version: str = "1.2.0") -> bytes:
    """Give a signed manifest."""
    return release_folder(tmp_path / "release", *keys, version=version)[1].read_bytes()


def changed(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """Give an envelope with a change."""
    document = json.loads(data)
    change(document)
    return json.dumps(document).encode()


def payload(data: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> None:
    """Change the payload of an envelope, whose signature stays."""
    document = json.loads(base64.b64decode(data["payload"]))
    change(document)
    data["payload"] = base64.b64encode(json.dumps(document).encode()).decode()


def test_a_signed_release_is_taken(tmp_path: Path) -> None:
    """Version, digest and size of each platform are those that were signed."""
    release = trust(KEY).open(envelope(tmp_path, KEY))
    assert (release.name, release.version, release.step_data, release.expires) == ("machineadm", "1.2.0", 1, EXPIRES)
    binary = release.binary("linux", "arm64")
    assert (binary.sha256, binary.size) == (DIGEST, len(PROGRAM))
    assert refusal(lambda: release.binary("windows", "amd64")) == ArtifactReason.NO_PLATFORM


TAMPERED = [
    (lambda one: payload(one, lambda two: two.update(version="9.9.9")), ArtifactReason.WRONG_SIGNATURE),
    (lambda one: payload(one, lambda two: two["binaries"][0].update(sha256="0" * 64)), ArtifactReason.WRONG_SIGNATURE),
    (lambda one: one["signatures"].clear(), ArtifactReason.UNSIGNED),
    (lambda one: one["signatures"][0].update(keyid=dsse.key_id(FOREIGN.public_key())), ArtifactReason.UNKNOWN_KEY),
    (lambda one: one["signatures"][0].update(keyid=7), ArtifactReason.UNKNOWN_KEY),
    (lambda one: one["signatures"][0].update(sig="AAAA"), ArtifactReason.WRONG_SIGNATURE),
    (lambda one: one["signatures"][0].update(sig="?"), ArtifactReason.MALFORMED),
    (lambda one: one.update(signatures=[3]), ArtifactReason.MALFORMED),
    (lambda one: one.update(signatures=one["signatures"] * 17), ArtifactReason.MALFORMED),
    (lambda one: one.pop("payload"), ArtifactReason.MALFORMED),
    (lambda one: one.update(payloadType="text/plain"), ArtifactReason.MALFORMED),
]


@pytest.mark.parametrize(("change", "reason"), TAMPERED)
def test_a_changed_envelope_is_refused(tmp_path: Path, change: Any, reason: ArtifactReason) -> None:
    """Each change of payload, signature, key id or type has its reason."""
    data = changed(envelope(tmp_path, KEY), change)
    assert refusal(lambda: trust(KEY).open(data)) == reason


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b" " * (dsse.MAX_BYTES + 1)])
def test_what_is_no_envelope_is_malformed(data: bytes) -> None:
    """Bytes that are no envelope are refused, whatever their shape or size."""
    assert refusal(lambda: trust(KEY).open(data)) == ArtifactReason.MALFORMED


def twice(data: bytes) -> bytes:
    """Return JSON in which the first member of the document stands once more, at its end."""
    (name, value), *_ = json.loads(data).items()
    return data.rstrip()[:-1] + f", {json.dumps(name)}: {json.dumps(value)}}}".encode()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (twice, "a member that stands twice"),
        (lambda data: data + b"x", "bytes behind the end"),
        (lambda data: data + b"\0", "a zero behind the end"),
        (lambda data: data.decode().encode("utf-16"), "another encoding"),
        (lambda data: b"\xef\xbb\xbf" + data, "a byte order mark"),
        (lambda data: data.replace(b"{", b'{"\xff": 1, ', 1), "no text"),
    ],
)
def test_a_document_has_one_meaning(tmp_path: Path, change: Callable[[bytes], bytes], reason: str) -> None:
    """What two programs could read differently is refused, signed or not: as an envelope, and as a manifest."""
    data = envelope(tmp_path, KEY)
    assert refusal(lambda: trust(KEY).open(change(data))) == ArtifactReason.MALFORMED, reason
    signed = change(base64.b64decode(json.loads(data)["payload"]))
    assert refusal(lambda: trust(KEY).open(dsse.sign(signed, PAYLOAD_TYPE, [KEY]))) == ArtifactReason.MALFORMED, reason


def test_a_signature_without_key_id_counts(tmp_path: Path) -> None:
    """The id is a hint only: without it every trusted key is tried."""
    data = changed(envelope(tmp_path, KEY), lambda one: one["signatures"][0].pop("keyid"))
    assert trust(NEXT, KEY).open(data).version == "1.2.0"
    assert refusal(lambda: trust(NEXT).open(data)) == ArtifactReason.WRONG_SIGNATURE


def test_a_signature_for_another_type_does_not_count() -> None:
    """What was signed as something else is no release: the type is signed, too."""
    document = b'{"a": 1}'
    data = changed(dsse.sign(document, "text/plain", [KEY]), lambda one: one.update(payloadType=PAYLOAD_TYPE))
    assert refusal(lambda: dsse.open_envelope(data, PAYLOAD_TYPE, [KEY.public_key()])) == ArtifactReason.WRONG_SIGNATURE


def test_keys_are_rotated_without_a_gap(tmp_path: Path) -> None:
    """Old, old and new, and new alone: each step of a rotation leaves a release that every bootstrapper takes."""
    first, both, last = (envelope(tmp_path, *keys) for keys in ((KEY,), (KEY, NEXT), (NEXT,)))
    old, rotating, new = trust(KEY), trust(KEY, NEXT), trust(NEXT)
    taken = [(old, first), (rotating, first), (rotating, both), (old, both), (new, both), (rotating, last), (new, last)]
    assert all(one.open(data).version == "1.2.0" for one, data in taken)
    assert refusal(lambda: new.open(first)) == ArtifactReason.UNKNOWN_KEY
    assert refusal(lambda: old.open(last)) == ArtifactReason.UNKNOWN_KEY


def test_an_expired_release_is_refused(tmp_path: Path) -> None:
    """It is taken until the very second of its expiry."""
    data = envelope(tmp_path, KEY)
    assert trust(KEY, now=EXPIRES - timedelta(seconds=1)).open(data)
    assert refusal(lambda: trust(KEY, now=EXPIRES).open(data)) == ArtifactReason.EXPIRED


@pytest.mark.parametrize(
    ("version", "minimum", "is_taken"),
    [("1.2.0", "1.2.0", True), ("1.10.0", "1.9.9", True), ("1.2.0", "1.2.1", False), ("1.2.0-rc.2", "1.2.0", False),
     ("1.2.0-rc.10", "1.2.0-rc.9", True), ("1.2.0-rc.1", "1.2.0-1", True)],
)  # fmt: skip
def test_an_older_release_than_the_minimum_is_refused(
    tmp_path: Path, version: str, minimum: str, is_taken: bool
) -> None:
    """Versions are compared as semantic versions: a mirror cannot offer what was given up."""
    data = envelope(tmp_path, KEY, version=version)
    one = trust(KEY, minimum=minimum)
    assert one.open(data) if is_taken else refusal(lambda: one.open(data)) == ArtifactReason.BELOW_MINIMUM


@pytest.mark.parametrize(
    "text", ["1", "1.2", "1.2.3.4", "01.2.3", "1.2.x", "1.2.3-", "1.2.3-a..b", "1.2.3-01", "\u0661.2.3", "v1.2.3"]
)
def test_what_is_no_version_is_refused(text: str) -> None:
    """Each broken version is an error."""
    with pytest.raises(ValueError, match=r"MAJOR\.MINOR\.PATCH"):
        Version.parse(text)


@pytest.mark.parametrize("text", ["1.2.3", "0.0.0-a", "1.2.3-rc.1", "1.2.3-a-b.7"])
def test_a_version_is_printed_as_it_was_read(text: str) -> None:
    """Reading and printing are each other's reverse."""
    assert str(Version.parse(text)) == text


def test_an_unknown_field_of_a_manifest_is_refused() -> None:
    """A signed manifest of a newer Slipway is not half understood."""
    data = dsse.sign(b'{"name": "machineadm", "channel": "beta"}', PAYLOAD_TYPE, [KEY])
    with pytest.raises(ArtifactRefused, match="binaries, channel, expires, stepData, version") as caught:
        trust(KEY).open(data)
    assert caught.value.reason == ArtifactReason.MALFORMED


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda document: document.update(step_data=document.pop("stepData")), "stepData"),
        (lambda document: document.update(expires="1893456000"), "expires"),
    ],
)
def test_a_manifest_is_written_in_one_form(
    tmp_path: Path, change: Callable[[dict[str, object]], None], field: str
) -> None:
    """Neither another name of a field nor a number for a date is read as if it were what the format says."""
    release, _ = release_folder(tmp_path / "release", KEY)
    document = json.loads(release.serialise())
    change(document)
    with pytest.raises(ArtifactRefused, match=field):
        Release.parse(json.dumps(document).encode())


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Parsing what was serialised gives the same release."""
    release, _ = release_folder(tmp_path / "release", KEY)
    assert Release.parse(release.serialise()) == release


@pytest.mark.parametrize(
    ("change", "reason"),
    [(lambda path: path.unlink(), ArtifactReason.FILE_MISSING),
     (lambda path: path.write_bytes(PROGRAM[:-1]), ArtifactReason.FILE_DIFFERS),
     (lambda path: path.write_bytes(PROGRAM.swapcase()), ArtifactReason.FILE_DIFFERS)],
)  # fmt: skip
def test_files_must_be_those_that_were_signed(tmp_path: Path, change: Any, reason: ArtifactReason) -> None:
    """A missing, truncated or changed file refuses the whole folder, and nothing of it is copied."""
    release, manifest = release_folder(tmp_path / "release", KEY)
    source, target = ReleaseFolder(tmp_path / "release"), ReleaseFolder(tmp_path / "store")
    change(source.root / release.binaries[0].path)
    assert refusal(lambda: source.verify(manifest, trust(KEY))) == reason
    assert refusal(lambda: target.add(source, trust(KEY))) == reason
    assert not target.root.exists()


def test_a_folder_takes_over_another(tmp_path: Path) -> None:
    """What was added is verified in its new place, readable by a gateway, and nothing else lies there."""
    release_folder(tmp_path / "release", KEY)
    store = ReleaseFolder(tmp_path / "store")
    (release,) = store.add(ReleaseFolder(tmp_path / "release"), trust(KEY))
    (manifest,) = store.manifests()
    assert store.verify(manifest, trust(KEY)) == release
    files = {path.relative_to(store.root).as_posix() for path in store.root.rglob("*") if path.is_file()}
    assert files == {f"sha256/{DIGEST}", "manifests/machineadm-1.2.0.json"}
    assert (store.root / f"sha256/{DIGEST}").stat().st_mode & 0o777 == 0o644


def catalogue(tmp_path: Path, *keys: Any) -> Catalogue:
    """Give the catalogue of the manifests below a folder."""
    return Catalogue(tmp_path / "release" / "manifests", trust(*keys))


def test_the_catalogue_gives_a_version(tmp_path: Path) -> None:
    """It gives what was asked for, and says why not: unknown, or the reason of the manifest of that name."""
    release_folder(tmp_path / "release", KEY)
    release_folder(tmp_path / "release", FOREIGN, version="1.3.0")
    one = catalogue(tmp_path, KEY)
    assert one.find("machineadm", "1.2.0").version == "1.2.0"
    assert refusal(lambda: one.find("machineadm", "1.3.0")) == ArtifactReason.UNKNOWN_KEY
    assert refusal(lambda: one.find("machineadm", "1.4.0")) == ArtifactReason.UNKNOWN_VERSION
    assert refusal(lambda: one.find("other", "1.2.0")) == ArtifactReason.UNKNOWN_VERSION
    assert [bool(listed.refusal) for listed in one.list()] == [False, True]


def test_two_manifests_of_a_version_must_agree(tmp_path: Path) -> None:
    """Two signed manifests of a version with different files are an error, since nobody knows which is meant."""
    _, manifest = release_folder(tmp_path / "release", KEY)
    manifest.rename(manifest.with_name("first.json"))
    assert catalogue(tmp_path, KEY).find("machineadm", "1.2.0")
    release_folder(tmp_path / "release", KEY, program=b"another")
    assert refusal(lambda: catalogue(tmp_path, KEY).find("machineadm", "1.2.0")) == ArtifactReason.AMBIGUOUS


def test_keys_are_read_from_files(tmp_path: Path) -> None:
    """One file may hold both keys of a rotation; what is no Ed25519 public key is an error that names the file."""
    both = public_file(tmp_path / "both.pub", KEY, NEXT)
    one = Trust.of([both], "1.0.0", lambda: NOW)
    assert [dsse.key_id(each) for each in one.keys] == [dsse.key_id(each.public_key()) for each in (KEY, NEXT)]
    for text in (
        b"",
        b"nothing",
        both.read_bytes() + b"more",
        b"-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n",
    ):
        (tmp_path / "broken").write_bytes(text)
        with pytest.raises(ValueError, match="broken"):
            dsse.read_public_keys(tmp_path / "broken")
