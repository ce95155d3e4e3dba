"""slipway directory."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any

import click

from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.options import F, output_option
from slipway.cli.output import emit, note, show, table
from slipway.directory.accounts import Account, Accounts
from slipway.directory.failures import DirectoryError
from slipway.directory.ldap_directory import connected
from slipway.directory.offline_join import offline_blob
from slipway.directory.secret_file import (
    BLOB,
    COMPUTER_NAME,
    DOMAIN,
    PASSWORD,
    new_private_file,
    secret_manifest,
)
from slipway.directory.settings import Settings, read_password

_COLUMNS = ("computer", "machine", "result", "detail")
_FILE = click.Path(path_type=Path, dir_okay=False)
_ONE_OF_FORMATS = click.Choice(("secret", "raw"))


@dataclass(frozen=True, slots=True)
class _Order:
    """What a Machine gets, and where that goes."""

    machine: str
    namespace: str
    output: Path
    form: str
    secret_name: str | None
    renew: bool

    def content(self, account: Account, key: str, value: bytes) -> bytes:
        """Give the file: the value, or a Secret with it under a key."""
        if self.form == "raw":
            return value
        values = {COMPUTER_NAME: account.computer.encode(), DOMAIN: account.domain.encode(), key: value}
        return secret_manifest(self.secret_name or f"{self.machine}-directory", self.namespace, values)


@click.group("directory")
def directory() -> None:
    """Computer accounts of Active Directory, made before their machines by an account that may do nothing else."""


def _domain_options(command: F) -> F:
    """Add the options that say which domain, as whom and where; the command gets them as Settings."""

    @reported
    @wraps(command)
    def wrapper(**values: Any) -> Any:
        for name in ("server", "user", "password_file", "base", "owner"):
            if not values[name]:
                option = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"give {option}, or SLIPWAY_DIRECTORY_{name.upper()} in the environment")
        password_file, authority = values.pop("password_file"), values.pop("ca_file")
        chosen = {name: values.pop(name) for name in ("server", "user", "base", "unit", "owner")}
        try:
            settings = Settings(password=read_password(password_file), authority=authority, **chosen)
            return command(settings, **values)
        except DirectoryError as error:
            note(f"{error.reason}: {error}", "refused")
            sys.exit(FAILED)

    options: tuple[Callable[[Any], Any], ...] = (
        click.option(
            "--server", envvar="SLIPWAY_DIRECTORY_SERVER", metavar="URL",
            help="The domain controller: ldaps://HOST or ldaps://HOST:PORT, by the name in its certificate.",
        ),
        click.option(
            "--user", envvar="SLIPWAY_DIRECTORY_USER", metavar="NAME@DOMAIN",
            help="The delegated account; an administrator is refused.",
        ),
        click.option(
            "--password-file", envvar="SLIPWAY_DIRECTORY_PASSWORD_FILE", type=_FILE,
            help="A file with its password, which no other user can read.",
        ),
        click.option(
            "--ca-file", default=None, envvar="SLIPWAY_DIRECTORY_CA_FILE", type=_FILE,
            help="PEM file with the CA of the controller's certificate. Default: those of the system.",
        ),
        click.option(
            "--base", envvar="SLIPWAY_DIRECTORY_BASE", metavar="DN",
            help="The organisational unit outside of which nothing is made, changed or removed.",
        ),
        click.option(
            "--unit", default="", envvar="SLIPWAY_DIRECTORY_UNIT", metavar="DN",
            help="Where new objects go, at the base or below it. Default: the base.",
        ),
        click.option(
            "--owner", envvar="SLIPWAY_DIRECTORY_OWNER", metavar="ID",
            help="Id in the mark of our objects, such as the name of the management cluster.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        wrapper = option(wrapper)
    return wrapper  # type: ignore[return-value]  # the wrapper takes the options instead of the settings


def _output_options(command: F) -> F:
    options: tuple[Callable[[Any], Any], ...] = (
        click.option("-n", "--namespace", default="default", show_default=True, help="Namespace of the Machine."),
        click.option("-o", "--output", required=True, type=_FILE, help="A new file, which only you can read."),
        click.option(
            "--format", "form", type=_ONE_OF_FORMATS, default="secret", show_default=True,
            help="A Secret for kubectl apply, or what it is about alone.",
        ),
        click.option("--secret-name", default=None, help="Name of the Secret. Default: MACHINE-directory."),
        click.option(
            "--renew", is_flag=True,
            help="Give the machine's object a new password; the machine that has joined with it loses its membership.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@directory.command("preset", short_help="Make a computer account with a one-time password.")
@click.argument("machine")
@_output_options
@_domain_options
def preset(settings: Settings, **values: Any) -> None:
    """Make the computer account of a Machine, with a random password that the machine uses once to join.

    The name is the Machine's, or made from it where it is longer than 15 characters. An object that exists is changed
    by --renew only, and only if it is marked as this owner's and this Machine's.

    \b
    Examples:
      slipway directory preset worker-1 -n clusters -o worker-1.yaml

    \b
    Exit codes:
      0  the account is made, and the file holds its password
      1  refused, or the domain controller does not do it; the file does not exist
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    order = _Order(**values)
    with _preset(settings, order) as (account, write):
        write(order.content(account, PASSWORD, account.password.encode()))


@directory.command("blob", short_help="Make a computer account with a blob for an offline join.")
@click.argument("machine")
@click.option("--net", "program", default="net", show_default=True, help="Samba's program for it.")
@_output_options
@_domain_options
def blob(settings: Settings, *, program: str, **values: Any) -> None:
    """Make the computer account of a Machine, and a blob by which the machine joins without a domain controller.

    Windows takes it by `djoin /requestODJ /loadFile`, Linux by Samba's `net offlinejoin requestodj`. It holds the
    password of this machine, and of no other.

    \b
    Examples:
      slipway directory blob windows-1 -n clusters -o windows-1.yaml

    \b
    Exit codes:
      0  the account is made, and the file holds the blob
      1  refused, or the domain controller does not do it; the file does not exist
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    order = _Order(**values)
    with _preset(settings, order) as (account, write):
        content = offline_blob(settings, computer=account.computer, domain=account.domain, program=program)
        write(order.content(account, BLOB, content))


@directory.command("cleanup", short_help="Remove computer accounts of machines that are gone.")
@click.option("--machine", "machines", multiple=True, metavar="NAME", help="A Machine; may be given several times.")
@click.option(
    "--unused-for", type=click.IntRange(min=1), metavar="DAYS",
    help="Accounts without a login or a new password for so long; those that were in use for 45 days at least.",
)  # fmt: skip
@click.option("-n", "--namespace", default="default", show_default=True, help="Namespace of the Machines.")
@click.option("--apply", is_flag=True, help="Remove them. Without it, a dry run shows what would be removed.")
@output_option()
@_domain_options
def cleanup(settings: Settings, *, apply: bool, output: str, **values: Any) -> None:
    """Remove the computer accounts of Machines by name, or all that are unused for a number of days.

    Only objects below the base that are marked as this owner's are looked at. One that has objects below it stays.

    \b
    Examples:
      slipway directory cleanup --machine worker-1 --machine worker-2 -n clusters --apply

    \b
    Exit codes:
      0  everything that was to be removed is, or would be
      1  refused, or an object could not be removed
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    machines, unused_for, namespace = values["machines"], values["unused_for"], values["namespace"]
    if bool(machines) == (unused_for is not None):
        raise click.UsageError("give Machines by --machine, or an age by --unused-for")
    with _accounts(settings) as accounts:
        if unused_for is None:
            removals = accounts.remove((f"{namespace}/{name}" for name in machines), dry_run=not apply)
        else:
            age = timedelta(days=unused_for)
            removals = accounts.remove_unused(age, lambda: datetime.now(UTC), dry_run=not apply)
    rows = [(removal.computer, removal.machine, removal.result, removal.detail) for removal in removals]
    if output == "table":
        show(table("", _COLUMNS, rows))
    else:
        emit([dict(zip(_COLUMNS, row, strict=True)) for row in rows], output)
    if not apply and any(removal.result == "stale" for removal in removals):
        note("dry run: nothing is removed; --apply does it", "note")
    if any(removal.result == "failed" for removal in removals):
        sys.exit(FAILED)


@contextmanager
def _accounts(settings: Settings) -> Iterator[Accounts]:
    with connected(settings) as domain:
        accounts = Accounts(domain, settings)
        accounts.verify()
        yield accounts


@contextmanager
def _preset(settings: Settings, order: _Order) -> Iterator[tuple[Account, Callable[[bytes], None]]]:
    """Give a new account and a function that writes the file; an object that is new goes away after an error."""
    with new_private_file(order.output) as write, _accounts(settings) as accounts:
        account = accounts.preset(f"{order.namespace}/{order.machine}", renew=order.renew)
        try:
            yield account, write
        except BaseException:
            # Its password is lost.
            with suppress(DirectoryError):
                accounts.withdraw(account)
            raise
    note(f"{account.computer}: {order.output}", "note")
