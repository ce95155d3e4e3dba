"""Logs come as text, gzip and tar, of Windows too; what is hostile is refused in words."""

import base64
import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from slipway.cli.command_line import cli
from slipway.diagnosis.log_files import LARGEST, MOST_LINES, MOST_MEMBERS, LogError, logs_of
from slipway.diagnosis.log_text import LONGEST
from slipway.diagnosis.scrubbing import scrubbed

SWAP = "\t[ERROR Swap]: running with swap on is not supported. Please disable swap\n"
# Parts of the secrets below as they stand in hexadecimal digits, and in base64 and base32 behind some bytes of a group.
PARTS = (b"hunter2", b"0123456789abcdef")
ENCODED = [
    b"0123456".hex(),
    *(base64.b64encode(b"\0" * shift + part)[4:-4].decode() for part in PARTS for shift in range(3)),
    *(base64.b32encode(b"\0" * shift + PARTS[1]).decode()[8:16] for shift in range(5)),
]


def bundle(**members: bytes) -> bytes:
    """Give a tar of files."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (SWAP.encode(), "text"),
        (gzip.compress(SWAP.encode()), "gzip"),
        (gzip.compress(SWAP.encode())[:-6], "gzip that was cut off"),
        (gzip.compress(b"fine\n") + gzip.compress(SWAP.encode()), "gzip of several streams"),
        (b"\xff\xfe" + SWAP.encode("utf-16-le"), "PowerShell's encoding"),
        (bundle(a=b"fine\n", b=SWAP.encode()), "tar"),
        (gzip.compress(bundle(b=gzip.compress(SWAP.encode()))), "rotated logs in tar.gz"),
        (b"\xfe\xff\0broken".replace(b"\xfe\xff", b"\x80") + b"\n" + SWAP.encode(), "a console with broken bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_kind_of_file_is_read(data: bytes, reason: str) -> None:
    """The command finds the line in each, from a pipe as well."""
    result = CliRunner().invoke(cli, ["diagnose", "-", "-o", "json"], input=data)
    assert result.exit_code == 0, result.output
    assert [finding["reason"] for finding in json.loads(result.stdout)["findings"]] == ["SwapOn"], reason


def headers(content: bytes = b"", **more: str) -> bytes:
    """Give the member of an archive that says more of itself than its header can."""
    member = tarfile.TarInfo("a.log")
    member.pax_headers, member.size = more, len(content)
    data = member.tobuf(tarfile.PAX_FORMAT) + content
    return data + b"\0" * (-len(data) % 512)


def sparse(size: str, part: bytes = b"1\n0\n1\n") -> bytes:
    """Give a member of so many bytes, of which only the first one is there."""
    numbers = {"major": "1", "minor": "0", "name": "s.log", "realsize": size}
    content = part + b"\0" * (512 - len(part)) + b"x"
    return headers(content, **{f"GNU.sparse.{key}": value for key, value in numbers.items()})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: b"PK\x03\x04rest", "zip"),
        (lambda: b"\x1f\x8b\x08\x00broken-broken", "damaged"),
        (lambda: gzip.compress(b"\0" * (LARGEST + 1)), "larger than"),
        (lambda: bundle(a=gzip.compress(b"\0" * (LARGEST + 1))), "larger than"),
        (lambda: gzip.compress(b"") * (MOST_MEMBERS + 1), "more than 10000 gzip streams"),
        (lambda: b"x\n" * (MOST_LINES + 1), "more than 1000000 lines"),
        (lambda: b"x\r" * (MOST_LINES + 1), "more than 1000000 lines"),
        (lambda: b"x\\n" * (MOST_LINES + 1), "more than 1000000 lines"),
        (lambda: bundle(a=b"x\n" * MOST_LINES, b=b"x\n"), "more than 1000000 lines"),
        (lambda: headers(size="-1099511627776"), "damaged"),
        (lambda: sparse("-1099511627776") + sparse(str(2**40)), "damaged"),
        (lambda: sparse(str(2**40)), "larger than"),
        (lambda: sparse("1", part=b"1"), "damaged"),
        (lambda: tarfile.TarInfo("x" * 101).tobuf(tarfile.GNU_FORMAT)[: 2 * 512] * 3000, "damaged"),
        (lambda: headers(size=str(2**64)).replace(b"\x000", b"\0Z", 1), "damaged"),
    ],
)
def test_what_cannot_be_read_is_refused(make: Callable[[], bytes], words: str) -> None:
    """A bomb, damage and other formats end in a sentence and exit code 1."""
    data = make()
    with pytest.raises(LogError, match=words):
        logs_of("f", data)
    result = CliRunner().invoke(cli, ["diagnose", "-"], input=data)
    assert result.exit_code == 1
    assert words in result.stderr


@pytest.mark.parametrize(
    "secret",
    [
        "abcdef.0123456789abcdef",
        "https://user:hunter2secret@example.com/",
        "password=hunter2secret",
        'token: "hunter2secret"',
        "--certificate-key " + "0a" * 32,
        "-----BEGIN EC PRIVATE KEY-----\\nhunter2secret\\n-----END EC PRIVATE KEY-----",
        "client-key-data: hunter2secret",
        "Authorization: Bearer hunter2secret",
        "https://bucket.example.com/x?X-Amz-Signature=hunter2secret",
        "$6$salt$hunter2secret",
        "eyJhbGciOiJSUzI1NiJ9.eyJodW50ZXIyc2VjcmV0.hunter2secret",
        "abcdef%2E0123456789abcdef",
        "kubeadm join 192.0.2.1:6443 --token abcdef.0123456789abcdef --certificate-key=" + "0a" * 32,
        "data " + b"abcdef.0123456789abcdef".hex(),
        "content: [" + base64.b64encode(b"abcdef.0123456789abcdef").decode() + "]",
        "arg=" + base64.b64encode(b"kubeadm join a:6443 --token abcdef.0123456789abcdef").decode().rstrip("="),
        "totp=" + base64.b32encode(b"abcdef.0123456789abcdef").decode(),
        "arg " + base64.b32encode(b"--token abcdef.0123456789abcdef").decode().rstrip("=").lower(),
        "/x/y" + base64.urlsafe_b64encode(b"a?>?>hunter2?>?>").decode(),
        "\x1b]0;hunter2\x07\x1b[2J\x9b31m\u202e",
    ],
)
def test_no_secret_reaches_the_evidence(secret: str, tmp_path: Path) -> None:
    """The evidence line is shown, in every form of output, and its secret is not."""
    path = tmp_path / "a.log"
    path.write_text(f"{SWAP.rstrip()} {secret} end\n", encoding="utf-8")
    for form in ("table", "json", "yaml"):
        shown = CliRunner().invoke(cli, ["diagnose", str(path), "-o", form]).stdout
        assert "SwapOn" in shown
        assert "running with swap on" in shown
        for hidden in ("hunter2", "0123456789abcdef", "0a0a0a", "\x1b", "\x9b", "\u202e", "\x07", *ENCODED):
            assert hidden.lower() not in shown.lower()


@pytest.mark.parametrize("shift", [3, 9, 15])
@pytest.mark.parametrize(
    "secret",
    [
        "abcdef.0123456789abcdef",
        'token: "0123 456789 abcdef"',
        "key=abcdef.0123456789abcdef",
        "abcdef.\x1b[1m0123456789\x1b[0mabcdef",
    ],
)
@pytest.mark.parametrize("is_before", [True, False])
def test_no_half_of_a_secret_is_left_where_a_line_is_cut(secret: str, shift: int, is_before: bool) -> None:
    """A very long line is looked at in parts. The evidence is in the part in front of the cut, or behind it."""
    swap = SWAP.strip()
    before, after = (f"{swap} ", " end") if is_before else ("", f" {swap}")
    filler = ", " * LONGEST
    start = LONGEST - shift - len(before)
    result = CliRunner().invoke(cli, ["diagnose", "-"], input=filler[:start] + before + secret + after)
    assert "running with swap on" in result.stdout
    for hidden in ("abcdef", "0123", "456", "f.0"):
        assert hidden not in result.stdout


@pytest.mark.parametrize("blanks", [0, 100])
def test_a_secret_that_is_longer_than_what_is_searched_goes_to_its_end(blanks: int) -> None:
    """Where a very long line is cut the search has an end, and a short rest of a key would be known for nothing."""
    swap = SWAP.strip()
    key = "x" * 5000 + "hunter2"
    start = LONGEST - 900 - blanks
    text = (", " * LONGEST)[:start] + " " * blanks + f"password={key} {swap}"
    result = CliRunner().invoke(cli, ["diagnose", "-"], input=text)
    assert "running with swap on" in result.stdout
    assert "hunter2" not in result.stdout


@pytest.mark.parametrize(
    "line",
    [
        'Get "https://10.0.0.9:6443/api/v1/namespaces/kube-public/configmaps/cluster-info": dial tcp: no such host',
        "open /var/lib/kubelet/pods/7b8d4c3e/volumes/kubernetes.io~projected/kube-api-access-x/a: no such file",
        'none of the public keys "sha256:' + "ab" * 32 + '" are pinned',
    ],
)
def test_what_is_no_secret_stays(line: str) -> None:
    """Addresses, paths and hashes of certificates are what people look for."""
    assert scrubbed(line) == line


def test_a_file_that_is_not_there_is_a_wrong_command_line(tmp_path: Path) -> None:
    """The exit code tells it from a file that cannot be read as a log."""
    result = CliRunner().invoke(cli, ["diagnose", str(tmp_path / "none.log")])
    assert result.exit_code == 2
    assert "No such file" in result.stderr


def test_no_reason_is_said_in_words(tmp_path: Path) -> None:
    """A log that shows nothing ends well, and says so; what is no text is told."""
    (tmp_path / "a.log").write_text("fine\n")
    (tmp_path / "b.bin").write_bytes(b"\0" * 100)
    result = CliRunner().invoke(cli, ["diagnose", str(tmp_path / "a.log"), str(tmp_path / "b.bin")])
    assert result.exit_code == 0
    assert "no known reason" in result.stdout
    assert "b.bin: is no text" in result.stderr


@pytest.mark.parametrize(
    "filler",
    [
        b"a" * (2 << 20),
        b"\x1b]" + b"x" * (2 << 20),
        b"\x1b[31mx" * (300 << 10),
        bytes(range(1, 256)) * (8 << 10),
        b"\xff\xc0\x80" * (700 << 10),
        b"\r" * (400 << 10),
        b'{"MESSAGE":' + b"[" * (2 << 20),
        b"failed to pull image x509: dial tcp lookup permission denied " * (32 << 10),
        b"A" * (1 << 20) + b"=" * (1 << 20),
    ],
    ids=["one line", "open escape", "colours", "control characters", "not UTF-8", "returns", "JSON", "words", "base64"],
)
def test_a_line_is_found_behind_what_is_hostile(filler: bytes) -> None:
    """Neither a line of megabytes nor bytes that are no text hide what follows, nor do they reach a terminal."""
    result = CliRunner().invoke(cli, ["diagnose", "-"], input=filler + b"\n" + SWAP.encode() + filler)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("SwapOn\n")
    assert len(result.stdout) < 2000
    assert result.stdout.replace("\n", "").isprintable()


def test_a_file_larger_than_the_bound_is_not_read_to_its_end(tmp_path: Path) -> None:
    """A hundred megabytes, and a pipe without end, are refused with a command that gives the end of the log."""
    path = tmp_path / "big.log"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    for name in (str(path), "/dev/zero"):
        result = CliRunner().invoke(cli, ["diagnose", name])
        assert result.exit_code == 1
        assert "larger than 64 MiB; give its end: tail -c 64M" in result.stderr
