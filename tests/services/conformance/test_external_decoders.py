"""Programs that a provisioner's author brings along to read the author's own format."""

import os
import select
import shlex
import sys
from pathlib import Path

import pytest

from slipway.conformance.decoders import external
from slipway.conformance.decoders.sight import NotServedError, UnreadableError
from slipway.conformance.outcome import Unjudged


async def _external(program: str) -> object:
    return await external.decode(
        (sys.executable, "-c", program), b"user data", format_id="acme/v1", attachments={"a": b"attached"}
    )


async def test_a_decoder_of_ones_own() -> None:
    """It gets user data, format and attachments, and what it writes is the state."""
    state = await _external(
        "import json, os, sys\n"
        "said = [sys.stdin.read(), os.environ['SLIPWAY_FORMAT'], open('a').read()]\n"
        "print(json.dumps({'features': ['os.files'], 'programs': [{'argv': said}]}))"
    )
    assert list(state.programs[0].argv) == ["user data", "acme/v1", "attached"]


@pytest.mark.parametrize(
    "program",
    [
        "raise SystemExit(2)", "print('no JSON')", "print('{\"unheard\": 1}')",
        # Without its padding, and as URLs have it, it is not base64 for every machine.
        "print('{\"node\": {\"clusterCa\": \"YQ\"}}')",
        "print('{\"os\": {\"files\": [{\"content\": {\"data\": \"-_8=\"}}]}}')",
    ],
)  # fmt: skip
async def test_a_decoder_that_fails(program: str) -> None:
    """It is an error, and never a pass."""
    with pytest.raises(UnreadableError, match="--decode-cmd"):
        await _external(program)


async def test_a_decoder_of_another_format_says_so() -> None:
    """Exit code 3: the format is not looked at, which is no failure and no pass."""
    with pytest.raises(NotServedError, match="does not serve this format: what is it"):
        await _external("import sys\nprint('what is it', file=sys.stderr)\nsys.exit(3)")


@pytest.mark.parametrize(
    ("program", "shown", "reason"),
    [
        (
            "import sys\nprint('one', file=sys.stderr)\nsys.exit('no such key: run')",
            "code 1: no such key: run",
            "stderr",
        ),
        ('print(\'{"os": {"files": [{"pth": "/a"}]}}\')', '"pth"', "the field that the message does not have"),
    ],
)
async def test_a_decoder_that_fails_says_why(program: str, shown: str, reason: str) -> None:
    """Its author sees its own last words, or the field that is no MachineState's."""
    with pytest.raises(UnreadableError) as caught:
        await _external(program)
    assert shown in str(caught.value), reason


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "/a", "../a", "a/", "a\0b", "a" * 300])
async def test_an_attachment_that_is_no_file(name: str) -> None:
    """Its name is the provisioner's fault, told as such; nothing is written, and the program is not started."""
    with pytest.raises(UnreadableError, match="an attachment's name"):
        await external.decode((sys.executable, "-c", ""), b"", format_id="acme/v1", attachments={name: b"attached"})


async def test_a_decoder_that_hangs_ends_with_all_that_it_started(tmp_path: Path) -> None:
    """Its children are ended with it; they would hold the pipes, and run on."""
    fifo = tmp_path / "alive"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    script = f"exec 5>{shlex.quote(str(fifo))}; echo up >&5; (sleep 600; true) & wait"
    hanging = external.Program("--decode-cmd", ("sh", "-c", script), seconds=2.0)
    with pytest.raises((UnreadableError, Unjudged), match="did not end"):
        await hanging.report(external.Job("acme/v1"))
    # The end of the file comes when nobody has the pipe open any more.
    assert os.read(reader, 16) == b"up\n"
    assert select.select([reader], [], [], 20)[0], "somebody runs on"
    assert os.read(reader, 16) == b""
    os.close(reader)
