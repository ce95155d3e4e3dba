"""A real domain in which the rights are delegated by the commands of the page, for tests of both of its sides."""

import base64
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tools.oracles import directory
from tools.oracles.directory import DomainController

PAGE = Path(__file__).resolve().parents[3] / "docs/how-to/make-computer-accounts.md"
ROOT = directory.ROOT_DN
NODES = f"OU=Nodes,{ROOT}"
PASSWORD = "Passw0rd-Joiner1"
OWNER = "management-1"
# The other commands take a second to load.
_COMMAND = "from slipway.cli.directory_command import directory; directory()"
DATABASE = "/var/lib/samba/private/sam.ldb"
# The same without the rules by which a controller refuses changes, of times for example.
PARTITION = f"{DATABASE}.d/{ROOT.upper()}.ldb"
MEMBERSHIPS = {
    "CN=Node Joiners,CN=Users": "second",
    "CN=DnsAdmins,CN=Users": "nested",
    "CN=Domain Admins,CN=Users": "DnsAdmins",
    "CN=Account Operators,CN=Builtin": "operator",
}
ACCOUNTS = ("joiner", "second", "plain", "nested", "operator", "former")


@dataclass(frozen=True)
class Domain:
    """The controller, and the command line as one of its accounts."""

    controller: DomainController

    def slipway(
        self, *arguments: str, user: str = "joiner", password: str = PASSWORD, **options: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run `slipway directory` on this machine, in the controller's network; options replace those of the domain."""
        shared = self.controller.shared
        secret = shared / "account.password"
        secret.write_text(f"{password}\n")
        secret.chmod(0o600)
        chosen = {
            "SERVER": f"ldaps://{directory.HOST}", "CA_FILE": str(self.controller.authority), "BASE": NODES,
            "USER": f"{user}@{directory.DOMAIN}", "PASSWORD_FILE": str(secret), "OWNER": OWNER, **options,
        }  # fmt: skip
        environment = {f"SLIPWAY_DIRECTORY_{name}": value for name, value in chosen.items() if value}
        environment |= {"PATH": f"{shared}:{os.environ['PATH']}", "TMPDIR": str(shared)}
        done = self.controller.outside(
            sys.executable, "-W", "error", "-c", _COMMAND, *arguments, environment=environment
        )
        assert password.encode() not in done.stdout + done.stderr
        assert b"Traceback" not in done.stderr
        assert b"internal error" not in done.stderr, done.stderr
        return done

    def preset(self, machine: str, *arguments: str, kind: str = "preset", **options: str) -> dict[str, bytes]:
        """Make an account that must succeed; give the values of its Secret."""
        output = self.controller.shared / f"{machine}-{len(list(self.controller.shared.iterdir()))}.yaml"
        done = self.slipway(kind, machine, "-n", "clusters", "-o", str(output), *arguments, **options)
        assert done.returncode == 0, done.stderr
        assert stat.S_IMODE(output.stat().st_mode) == 0o600
        secret = yaml.safe_load(output.read_text())
        assert secret["metadata"] == {"name": f"{machine}-directory", "namespace": "clusters"}
        values = {key: base64.b64decode(value) for key, value in secret["data"].items()}
        for key in ("one-time-password", "blob"):
            assert key not in values or values[key] not in done.stdout + done.stderr
        return values

    def refusal(self, machine: str, *arguments: str, kind: str = "preset", **options: str) -> str:
        """Give the reason for which no account is made; there is no file then."""
        output = self.controller.shared / f"{machine}-refused.yaml"
        done = self.slipway(kind, machine, "-n", "clusters", "-o", str(output), *arguments, **options)
        assert done.returncode == 1, done.stdout + done.stderr
        assert not output.exists()
        return done.stderr.decode().removeprefix("refused: ").partition(":")[0]

    def join(self, computer: str, password: str) -> subprocess.CompletedProcess[bytes]:
        """Join a machine by its one-time password alone."""
        return self.controller.run(
            "adcli", "join", f"--domain-controller={directory.HOST}", f"--domain={directory.DOMAIN}",
            "--stdin-password", "--login-type=computer", f"--computer-name={computer}",
            f"--host-fqdn={computer.lower()}.{directory.DOMAIN}", f"--host-keytab=/root/{computer}.keytab",
            stdin=password.encode(),
        )  # fmt: skip

    def show(self, computer: str) -> dict[str, str]:
        """Give the attributes of a computer object, {} if it does not exist."""
        text = self.succeed("ldbsearch", "-H", PARTITION, f"(&(sAMAccountName={computer}$)(!(isDeleted=*)))")
        return dict(re.findall(r"^(\w+): (.*)$", text, re.MULTILINE))

    def change(self, ldif: str, program: str = "ldbmodify", database: str = DATABASE) -> None:
        """Change the controller's database itself."""
        self.succeed(program, "-H", database, stdin=ldif.encode())

    def succeed(self, *argv: str, stdin: bytes = b"") -> str:
        """Run a program of the controller that must succeed; give its output."""
        done = self.controller.run(*argv, stdin=stdin)
        assert done.returncode == 0, done.stdout
        return done.stdout.decode()


def _account(name: str) -> str:
    password = base64.b64encode(f'"{PASSWORD}"'.encode("utf-16-le")).decode()
    return (
        f"dn: CN={name},CN=Users,{ROOT}\nobjectClass: user\nsAMAccountName: {name}\nunicodePwd:: {password}\n"
        "userAccountControl: 512\n\n"
    )


def _member(group: str, name: str) -> str:
    return f"dn: {group},{ROOT}\nchangetype: modify\nadd: member\nmember: CN={name},CN=Users,{ROOT}\n\n"


@pytest.fixture(scope="module")
def domain(engine: Callable[..., None]) -> Iterator[Domain]:
    """A domain in which the rights are delegated by the commands of the page, with accounts of each kind."""
    engine("directory")
    text = PAGE.read_text(encoding="utf-8")
    commands = text.partition("## Delegate")[2].partition("```sh\n")[2].partition("```")[0]
    with directory.opened() as controller:
        made = Domain(controller)
        made.succeed("sh", "-eu", "-c", commands)
        made.succeed("samba-tool", "user", "setpassword", "joiner", f"--newpassword={PASSWORD}")
        made.change("".join(_account(name) for name in ACCOUNTS[1:]), program="ldbadd")
        made.change(
            "".join(_member(group, name) for group, name in MEMBERSHIPS.items())
            + f"dn: CN=former,CN=Users,{ROOT}\nchangetype: modify\nreplace: adminCount\nadminCount: 1\n"
        )
        net = controller.shared / "net"
        net.write_text(f'#!/bin/sh\nexec chroot {controller.root} /usr/bin/net "$@"\n')
        net.chmod(0o755)
        yield made
