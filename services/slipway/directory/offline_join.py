"""The blob of an offline join, by Samba's own program: `net offlinejoin provision`, as the delegated account.

Kerberos is required and the transport encrypted, so that the controller is the domain's own, and no other reads the new
password. The program gets the account's password through a pipe: neither its arguments, nor its environment, nor a file
hold it. It keeps its state in a folder that is gone afterwards.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from slipway.directory.failures import ConfigurationInvalid, PermissionMissing, RequestFailed
from slipway.directory.settings import Settings

_SECONDS = 120.0
_LIMIT = 1 << 20
_STATE = ("cache directory", "lock directory", "pid directory", "private dir", "state directory")
_DENIED = "NT_STATUS_ACCESS_DENIED"
_STATUS = re.compile(r"NT_STATUS_[A-Z_]++")


def offline_blob(settings: Settings, *, computer: str, domain: str, program: str) -> bytes:
    """Give the blob for a computer whose object exists: text as UTF-16, as `djoin /requestODJ` reads it from a file.

    The computer has another password afterwards, which only the blob holds.

    Args:
        settings: the domain controller and the account.
        computer: the name of its account.
        domain: the domain's DNS name.
        program: Samba's `net`, by name or path.

    Raises:
        ConfigurationInvalid: the program is not there, or the account has no Kerberos name.
        PermissionMissing: the account may not set what a join needs.
        RequestFailed: the program failed.
    """
    if "@" not in settings.user or "=" in settings.user:
        raise ConfigurationInvalid("user: a blob needs the account as NAME@DOMAIN")
    with tempfile.TemporaryDirectory(prefix="slipway-directory-") as folder:
        blob = Path(folder) / "blob"
        command = [
            program, "offlinejoin", "provision", f"domain={domain}", f"machine_name={computer}",
            f"machine_account_ou={settings.place}", f"dcname={settings.host}", "reuse", f"savefile={blob}",
            f"--user={settings.user}", "--use-kerberos=required", "--client-protection=encrypt",
            "--configfile=/dev/null", f"--option=realm={domain.upper()}",
            *(f"--option={name}={folder}" for name in _STATE),
        ]  # fmt: skip
        output, status = _run(command, settings.password)
        if status or not blob.is_file():
            raise _failure(output, status)
        with blob.open("rb") as file:
            content = file.read(_LIMIT + 1)
    if not content or len(content) > _LIMIT:
        raise RequestFailed("net offlinejoin: the blob is empty, or larger than 1 MiB")
    return content


def _run(command: list[str], password: str) -> tuple[str, int]:
    reader, writer = os.pipe()
    try:
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(password.encode() + b"\n")  # shorter than a pipe's buffer
        done = subprocess.run(  # noqa: S603  # no shell, and every argument is one of ours or was checked
            command, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=_SECONDS, pass_fds=(reader,), env={**os.environ, "PASSWD_FD": str(reader), "LC_ALL": "C"},
            start_new_session=True, umask=0o077,
        )  # fmt: skip
    except FileNotFoundError:
        raise ConfigurationInvalid("net: Samba's program is not installed (Debian: samba-common-bin)") from None
    except subprocess.TimeoutExpired:
        raise RequestFailed(f"net offlinejoin: did not end within {_SECONDS:.0f} s") from None
    finally:
        os.close(reader)
    return done.stdout.decode(errors="replace"), done.returncode


def _failure(output: str, status: int) -> RequestFailed | PermissionMissing:
    """Give what went wrong by the names of statuses alone: the text may hold more."""
    names = sorted(set(_STATUS.findall(output)))
    if _DENIED in names:
        return PermissionMissing("net offlinejoin: the account may not set the password or the names of the computer")
    return RequestFailed(f"net offlinejoin: ended with {status}{': ' if names else ''}{', '.join(names)}")
