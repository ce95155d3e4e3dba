"""A suite that is ended in the middle, as a CI job is that was cancelled, leaves nothing running."""

import asyncio
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slipway.conformance.decoders import external

pytestmark = pytest.mark.long


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_subject_ends_with_the_suite(tmp_path: Path, number: signal.Signals) -> None:
    """Also one that is still being waited for."""
    told = tmp_path / "pid"
    subject = f"echo $$ >{told}.new && mv {told}.new {told} && exec sleep 600"
    command = ["run", "--quiet", "--insecure", "--start-cmd", f"sh -c {shlex.quote(subject)}"]
    argv = ["env", "--default-signal=INT", sys.executable, "-m", "slipway.cli", "conformance", *command]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as suite:
        while not told.exists():
            assert suite.poll() is None
            time.sleep(0.05)
        suite.send_signal(number)
        _, said = suite.communicate(timeout=60)
    assert (suite.returncode, said) == (130, "interrupted\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text(encoding="ascii")), 0)


async def test_a_decoder_ends_with_the_suite(tmp_path: Path) -> None:
    """It has a session of its own, so nobody else would end it."""
    told = tmp_path / "pid"
    script = f"echo $$ >{told}.new && mv {told}.new {told} && exec sleep 600"
    decoding = asyncio.ensure_future(external.decode(["sh", "-c", script], b"", format_id="x", attachments={}))
    while not told.exists():  # noqa: ASYNC110  # another process has no event
        await asyncio.sleep(0.05)
    decoding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await decoding
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text(encoding="ascii")), 0)
