"""Downloads with a hash, by the real curl, from servers that fail them.

The static busybox of Debian cannot be asked: its wget crashes where the system's glibc is another one.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from slipway.bootstrapper.lowering.runners.linux_file import RUN_PROGRAM
from slipway.bootstrapper.lowering.runners.linux_plan import DOWNLOAD_RETRIES
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import literal
from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.lowering.runners.conftest import linux_machine
from tests.bootstrapper.lowering.runners.events import CONSOLE, EVENTS, events, short
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import STATE, lowered
from tests.bootstrapper.lowering.runners.staging import access
from tests.bootstrapper.lowering.runners.test_own_authorities import server_certificate
from tests.machineadm.bad_servers import Server, answer, redirect, serving

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

GOOD = b"the right bytes, and many of them\n" * 100
SECRET = "s3cretWord"  # of a server of this file
# With its own options, but a second of patience in place of half a minute, and no retry of its own.
IMPATIENT = 'exec /usr/bin/curl "$@" -y 1 --retry 0'
TRIES = 2


@dataclass(frozen=True)
class Bad:
    """What a server says to a download.

    Attributes:
        answer: what it sends.
        hangs: it says no more, and keeps the connection.
    """

    answer: bytes
    hangs: bool = False


BAD = {
    "says nothing": Bad(b"", hangs=True),
    "says nothing behind its header": Bad(answer(b"", length=len(GOOD)), hangs=True),
    "stops in the middle": Bad(answer(GOOD[:1000], length=len(GOOD)), hangs=True),
    "cuts the body short": Bad(answer(GOOD[:1000], length=len(GOOD))),
    "cuts the body short, and owns up to it": Bad(answer(GOOD[:1000])),
    "has other bytes": Bad(answer(GOOD.replace(b"right", b"wrong"))),
    "has more bytes": Bad(answer(GOOD + b"\n")),
    "has nothing": Bad(answer(b"")),
    "closes the connection": Bad(b""),
    "speaks another protocol": Bad(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "leads to itself for ever": Bad(redirect("/again")),
}


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[LinuxMachine]:
    """Give a machine that downloads with curl."""
    for made in linux_machine("dash", tmp_path):
        made.fake("curl", IMPATIENT)
        yield made


def install(machine: LinuxMachine, wave: Wave) -> int:
    """Lower, write and run, with two tries of the step in place of many; give the exit code."""
    machine.write(lowered([wave]).files)
    plan = machine.path("/var/lib/slipway/plan")
    text = plan.read_text()
    assert f"files prepare - {DOWNLOAD_RETRIES}" in text
    plan.write_text(text.replace(f"- {DOWNLOAD_RETRIES}", f"- {TRIES - 1}"))
    return machine.run(["/bin/sh", RUN_PROGRAM])


def download(*urls: str, authority: bytes = b"") -> Wave:
    """Give a file with the hash of the right bytes."""
    remote = ospb.RemoteContent(urls=urls, sha256=hashlib.sha256(GOOD).hexdigest())
    if authority:
        remote.ca.CopyFrom(literal(authority))
    return Wave(
        id="files", files=(ospb.File(path="/opt/new/tool", owner="root", group="root", mode=0o755, remote=remote),)
    )


def secret_url(server: Server) -> str:
    """Give a URL with a password and with a signature in its query."""
    return server.address.replace("://", f"://me:{SECRET}@") + f"/a/tool?signature={SECRET}"


def check_failure(machine: LinuxMachine, *servers: Server) -> None:
    """Nothing of the download is there; the record names the hosts, and no secret of a URL is anywhere in it."""
    assert not machine.path("/opt/new").exists()
    assert not list(machine.root.rglob(".slipway-new"))
    assert short(events(machine)[-1:]) == "files failed 1 CommandFailed"
    line, _, output = machine.path(f"{STATE}/files.failed").read_text().partition("\n")
    assert json.loads(line)["exitCode"] == 1
    for server in servers:
        assert f"{server.address.partition('://')[2]}: no answer, or another content\n" in output
    assert output.endswith("/opt/new/tool: no URL gave the content with the right hash\n")
    for path in (f"{STATE}/files.failed", EVENTS, CONSOLE):
        assert SECRET not in machine.path(path).read_text(), path


@pytest.mark.parametrize("name", BAD)
def test_a_server_that_fails_a_download_gives_no_file(machine: LinuxMachine, name: str) -> None:
    """Each try fails, and the step as well; neither the file nor its folder was made."""
    with serving(BAD[name].answer, hangs=BAD[name].hangs) as server:
        assert install(machine, download(secret_url(server))) == 1
        assert len(server.requests) >= TRIES
    check_failure(machine, server)


@pytest.mark.parametrize("name", BAD)
def test_the_next_url_serves_after_it(machine: LinuxMachine, name: str) -> None:
    """One that works comes behind it: nothing of the bad answer is in the file."""
    with serving(BAD[name].answer, hangs=BAD[name].hangs) as bad, serving(answer(GOOD)) as good:
        assert install(machine, download(secret_url(bad), secret_url(good))) == 0
    assert machine.path("/opt/new/tool").read_bytes() == GOOD
    assert access(machine.path("/opt/new/tool"))[0] == 0o755


@pytest.mark.parametrize("name", ["cuts the body short", "has other bytes"])
def test_a_file_that_is_there_stays_as_it_was(machine: LinuxMachine, name: str) -> None:
    """Where nothing right comes, the file of before has its content and its mode."""
    old = machine.path("/opt/new/tool")
    old.parent.mkdir(parents=True)
    old.write_bytes(b"of before")
    old.chmod(0o700)
    with serving(BAD[name].answer) as server:
        assert install(machine, download(secret_url(server))) == 1
    assert (old.read_bytes(), access(old)[0]) == (b"of before", 0o700)
    assert [path.name for path in old.parent.iterdir()] == ["tool"]


def test_https_leads_to_no_plain_http(machine: LinuxMachine, tmp_path: Path) -> None:
    """Also where the right bytes would be there: the second server is never asked."""
    certificate, key = server_certificate()
    pem = tmp_path / "server.pem"
    pem.write_bytes(certificate + key)
    with serving(answer(GOOD)) as plain, ExitStack() as stack:
        leading = stack.enter_context(serving(redirect(f"{plain.address}/tool"), certificate=pem))
        assert install(machine, download(secret_url(leading), authority=certificate)) == 1
        assert plain.requests == []
        assert len(leading.requests) == TRIES
    check_failure(machine, leading)


def test_https_leads_to_https(machine: LinuxMachine, tmp_path: Path) -> None:
    """With a certificate at both ends the same way is gone: it is not the redirect that is refused."""
    certificate, key = server_certificate()
    pem = tmp_path / "server.pem"
    pem.write_bytes(certificate + key)
    with serving(answer(GOOD), certificate=pem) as last, ExitStack() as stack:
        leading = stack.enter_context(serving(redirect(f"{last.address}/tool"), certificate=pem))
        assert install(machine, download(secret_url(leading), authority=certificate)) == 0
    assert machine.path("/opt/new/tool").read_bytes() == GOOD


def test_another_host_serves_what_has_the_hash(machine: LinuxMachine) -> None:
    """A mirror may lead to another host; it gets neither the password of the first one nor its query."""
    with serving(answer(GOOD), address="127.0.0.2") as other, serving(redirect(f"{other.address}/tool")) as mirror:
        assert install(machine, download(secret_url(mirror))) == 0
    assert machine.path("/opt/new/tool").read_bytes() == GOOD
    (request,) = other.requests
    assert request.startswith("GET /tool HTTP/1.1\r\n")
    assert SECRET not in request
    assert "authorization" not in request.lower()


def test_another_host_with_other_bytes_gives_no_file(machine: LinuxMachine) -> None:
    """The hash decides, wherever the bytes come from; the record names the host that the spec names."""
    wrong = answer(GOOD[:-1] + b"!")
    with serving(wrong, address="127.0.0.2") as other, serving(redirect(f"{other.address}/tool")) as mirror:
        assert install(machine, download(secret_url(mirror))) == 1
        assert other.requests
    check_failure(machine, mirror)
