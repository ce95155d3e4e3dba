"""The service as a process: it starts without a cluster and a domain, and SIGTERM ends it in order."""

import asyncio
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.long

PASSWORD = "canary-of-the-process"
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
    "users": [{"name": "u", "user": {"token": "not-a-secret"}}],
    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    "current-context": "x",
}


@pytest.mark.timeout(180)
async def test_it_starts_waits_and_ends(tmp_path: Path) -> None:
    """An API server that does not answer is waited for; a signal ends the process with 0, and no password is logged."""
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(KUBECONFIG))
    password = tmp_path / "password"
    password.write_text(PASSWORD)
    password.chmod(0o440)
    flags = [
        "--insecure", "--listen-address=127.0.0.1:0", "--log-format=json", f"--kubeconfig={tmp_path / 'kubeconfig'}",
        "--directory-domain=corp.example.com", "--directory-server=ldaps://dc1.corp.example.com",
        "--directory-user=joiner@corp.example.com", "--directory-base=OU=Nodes,DC=corp,DC=example,DC=com",
        "--directory-owner=management-1", f"--directory-password-file={password}",
    ]  # fmt: skip
    argv = [sys.executable, "-m", "slipway.directory_service", *flags]
    process = await asyncio.create_subprocess_exec(*argv, stdin=DEVNULL, stderr=PIPE)
    assert process.stderr
    try:
        lines = [await process.stderr.readline()]
        while b"watch failed" not in lines[-1]:
            assert lines[-1], lines
            lines.append(await process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        lines.append(await process.stderr.read())
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    log = b"".join(lines)
    assert b'"event": "listening"' in log
    assert b'"event": "stopped"' in log
    assert PASSWORD.encode() not in log
