"""Log bundles lose their secrets on arrival; one that was made to take all memory or time takes little of either."""

import base64
import gzip
import io
import tarfile
from collections.abc import Callable

import pytest

from slipway.reports import redaction
from slipway.reports.bundle_intake import Redactor
from slipway.reports.redaction import BundleRefused, redact
from tests.services.reports.made import bundle_of, files_of

TOKEN = "abcdef.0123456789abcdef"
KEY_LINES = [base64.b64encode(bytes([number]) * 48).decode() for number in range(20)]
ENCODED = base64.b64encode(f"token: {TOKEN}".encode()).decode()
PEM = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *KEY_LINES, "c2hvcnQ=", "-----END RSA PRIVATE KEY-----"])
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg"


def redacted(files: dict[str, bytes]) -> dict[str, bytes]:
    """Give the files of a log bundle after it was redacted."""
    target = io.BytesIO()
    redact(io.BytesIO(bundle_of(files)), target)
    return files_of(target.getvalue())


@pytest.mark.parametrize(
    ("text", "secret", "reason"),
    [
        (f"kubeadm join --token {TOKEN} --x", TOKEN, "a bootstrap token"),
        (f"before\n{PEM}\nbehind", "c2hvcnQ=", "the last line of a key"),
        ("\n".join(f"Nov 26 03:00:00 node-1 x[1]: {line}" for line in PEM.split("\n")), KEY_LINES[3], "in a journal"),
        (PEM.replace("\n", "\r\n"), KEY_LINES[0], "with line ends of Windows"),
        ('{"MESSAGE":"' + PEM.replace("\n", "\\n") + '"}', KEY_LINES[7], "in a record of JSON"),
        (f"authorization: Bearer {JWT}", JWT, "a token of a service account"),
        ("GET https://user:hunter22@example.com/", "hunter22", "a password in a URL"),
        (f"{'x' * 65_530} --token {TOKEN}", TOKEN, "across the place where a long line is cut"),
        (ENCODED, ENCODED[:20], "base64"),
        (f"token%3D{TOKEN.replace('.', '%2E')}", TOKEN.replace(".", "%2E"), "encoded with percent signs"),
        ("\x1b[31mpassword: hunter22\x1b[0m", "hunter22", "in colour"),
    ],
)  # fmt: skip
def test_a_secret_is_removed(text: str, secret: str, reason: str) -> None:
    """Whatever a machine has left in its logs."""
    (content,) = redacted({"journal/kubelet.log": text.encode()}).values()
    assert secret.encode() not in content, reason
    assert b"<removed>" in content


def test_the_rest_stays_as_it_is() -> None:
    """Lines, empty ones too, and names; what is no text has a note in its place."""
    log = b"one\n\n  two: it works\n[   12.345678] eth0: link up\n" + b"-----BEGIN X-----\nnot base64, at all.\nthree\n"
    files = redacted({"a/b.log": log, "journal/kubelet.service@1.log": b"x\r\ny", "binary": bytes(900)})
    assert files["a/b.log"].split(b"\n")[:4] == log.split(b"\n")[:4]
    assert files["a/b.log"].endswith(b"not base64, at all.\nthree\n")
    assert files["journal/kubelet.service@1.log"] == b"x\ny"
    assert files["binary"] == b"<removed>: is no text\n"


def test_a_name_with_a_secret_is_replaced() -> None:
    """A name is shown, too."""
    assert list(redacted({f"logs/{TOKEN}.log": b"x", "logs/b.log": b"y"})) == ["removed-0", "logs/b.log"]


def member(change: Callable[[tarfile.TarInfo], object]) -> bytes:
    """Give a log bundle with one empty member that is not as usual."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        info = tarfile.TarInfo("a.log")
        change(info)
        archive.addfile(info)
    return target.getvalue()


def _is(kind: bytes) -> Callable[[tarfile.TarInfo], object]:
    def change(info: tarfile.TarInfo) -> None:
        info.type, info.linkname = kind, "/etc/shadow"

    return change


def _named(name: str) -> Callable[[tarfile.TarInfo], object]:
    return lambda info: setattr(info, "name", name)


def _folders(number: int) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for index in range(number):
            info = tarfile.TarInfo(f"folder-{index}")
            info.type = tarfile.DIRTYPE
            archive.addfile(info)
    return target.getvalue()


REFUSED: dict[str, Callable[[], bytes]] = {
    "no gzip": lambda: b"plain text",
    "no tar": lambda: gzip.compress(b"plain text" * 100),
    "nothing": lambda: b"",
    "an empty archive": lambda: gzip.compress(bytes(10240)),
    "cut off": lambda: bundle_of({"a.log": b"x" * 100_000})[:-20],
    "a bomb of zeros": lambda: gzip.compress(tarfile.TarInfo("a.log").tobuf()[:124] + b"77777777777\0" + bytes(376)),
    "a symbolic link": lambda: member(_is(tarfile.SYMTYPE)),
    "a hard link": lambda: member(_is(tarfile.LNKTYPE)),
    "a device": lambda: member(_is(tarfile.BLKTYPE)),
    "a way out": lambda: member(_named("../a.log")),
    "a way out in the middle": lambda: member(_named("a/../../b.log")),
    "an absolute name": lambda: member(_named("/etc/passwd")),
    "a name with control characters": lambda: member(_named("a\x1b[2J.log")),
    "HTML in a name": lambda: member(_named("<img src=x>.log")),
    "a long name": lambda: member(_named("a" * 201)),
    "a deep name": lambda: member(_named("a/" * 8 + "b")),
    "many folders": lambda: _folders(redaction.MOST_MEMBERS + 1),
    "many files": lambda: bundle_of({f"{number}.log": b"" for number in range(redaction.MOST_MEMBERS + 1)}),
    "a large file": lambda: bundle_of({"a.log": bytes(redaction.LARGEST_MEMBER + 1)}),
    "large files": lambda: bundle_of({f"{number}.log": b" " * (16 * 2**20) for number in range(5)}),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_no_log_bundle_is_refused(reason: str) -> None:
    """Damaged, too large, or with what no log bundle has: nothing of it is kept."""
    with pytest.raises(BundleRefused) as refused:
        redact(io.BytesIO(REFUSED[reason]()), io.BytesIO())
    assert "\x1b" not in str(refused.value)


def test_a_name_twice_is_refused() -> None:
    """Of two files of one name a reader would see the one or the other."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for _ in range(2):
            archive.addfile(tarfile.TarInfo("a.log"))
    with pytest.raises(BundleRefused, match="twice"):
        redact(io.BytesIO(target.getvalue()), io.BytesIO())


async def test_the_program_redacts_and_refuses() -> None:
    """As a process of its own it gives the same, and its refusal is relayed."""
    redactor = Redactor()
    content = await redactor.redact(bundle_of({"a.log": f"token: {TOKEN}".encode()}))
    assert files_of(content) == {"a.log": b"token: <removed>"}
    with pytest.raises(BundleRefused, match="no relative path"):
        await redactor.redact(REFUSED["a way out"]())
    with pytest.raises(BundleRefused, match="no tar archive"):
        await redactor.redact(bytes(5 * 2**20))


@pytest.mark.parametrize("limits", [{"seconds": 0.01}, {"largest": 10}])
async def test_a_bundle_that_takes_too_much_ends_its_process(limits: dict[str, float]) -> None:
    """Time and size of the result are bounded; the next bundle has its turn."""
    redactor = Redactor(**limits)  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(BundleRefused):
            await redactor.redact(bundle_of({"a.log": b"x\n" * 100_000}))
