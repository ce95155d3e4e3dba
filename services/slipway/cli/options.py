"""The options that several commands share, so that they are spelt and explained the same everywhere."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from slipway.cli.output import OUTPUTS
from slipway.rpc.addresses import is_endpoint

F = TypeVar("F", bound=Callable[..., Any])

INFRASTRUCTURES = (
    "aws", "azure", "gcp", "openstack", "vsphere", "cloudstack", "kubevirt", "docker", "metal", "hetzner",
    "hetzner-bare-metal", "linode", "nutanix", "oci", "proxmox", "equinix", "tinkerbell",
)  # fmt: skip
"""The rows of the table of infrastructures, which is not read before a command needs it."""

_HIGHEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Inputs:
    """What machines a command is about."""

    files: tuple[Path, ...]
    variables: dict[str, str]
    set_missing: bool
    machines: tuple[str, ...] = ()
    target: str = ""
    substitute: bool = True


@dataclass(frozen=True, slots=True)
class Connection:
    """Who answers: this process, or a server."""

    server: str
    registry: str
    tls_cert_dir: Path | None
    insecure: bool
    credentials: Path | None
    profiles: Path | None


def _variables(_context: click.Context, _parameter: click.Parameter, values: Iterable[str]) -> dict[str, str]:
    variables = {}
    for text in values:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise click.BadParameter("it takes VAR=VALUE")
        variables[name] = value
    return variables


def variable_options(command: F) -> F:
    """Add the options that fill in a template: --set, --set-missing, --no-substitution."""
    return _with(
        command,
        click.option(
            "--set", "variables", multiple=True, metavar="VAR=VALUE", callback=_variables,
            help="A variable of a template; it wins over the environment.",
        ),
        click.option(
            "--set-missing", is_flag=True,
            help="Fill undefined variables, a missing endpoint, version or Secret with placeholders, for a dry run.",
        ),
        click.option(
            "--no-substitution", is_flag=True,
            help="Take ${...} as text: clusterctl has filled in the variables already.",
        ),
    )  # fmt: skip


def file_options(command: F, *, metavar: str = "[FILE]...") -> F:
    """Add -f, and files as arguments: `-f *.yaml` is one of the first and the others of the second."""
    return _with(
        command,
        click.argument("arguments", nargs=-1, metavar=metavar, type=click.Path(path_type=Path, allow_dash=True)),
        click.option(
            "-f", "--file", "files", multiple=True, metavar="FILE", type=click.Path(path_type=Path, allow_dash=True),
            help="A spec, a cluster, or any Cluster API manifest; may be given several times; - for standard input.",
        ),
    )  # fmt: skip


def input_options(command: F) -> F:
    """Add the options that say which machines: -f, --set, --set-missing, --machine, --target."""
    command = _with(
        command,
        click.option("--machine", "machines", multiple=True, metavar="NAME", help="Only this machine."),
        click.option(
            "--target", default=None, type=click.Choice(INFRASTRUCTURES), metavar="INFRASTRUCTURE",
            help=f"Where the machines run, if the files do not say: {', '.join(INFRASTRUCTURES)}.",
        ),
    )  # fmt: skip
    return file_options(variable_options(command))


def connection_options(command: F) -> F:
    """Add the options that say who answers: --server, --registry, TLS, --credentials, --profiles."""
    return _with(
        command,
        click.option(
            "--credentials", default=None, type=click.Path(path_type=Path, file_okay=False),
            help="Keep each cluster's secrets in this directory between calls.",
        ),
        click.option(
            "--profiles", default=None, type=click.Path(path_type=Path, file_okay=False, exists=True),
            help="Directory with OS profiles of your own.",
        ),
        click.option(
            "--server", default="", envvar="SLIPWAY_SERVER", metavar="HOST:PORT", callback=address,
            help="Call this bootstrapper. Without it everything runs in this process.",
        ),
        click.option(
            "--registry", default="", envvar="SLIPWAY_REGISTRY_ADDRESS", metavar="HOST:PORT", callback=address,
            help="The registry beside the server; to list provisioners.",
        ),
        click.option(
            "--tls-cert-dir", default=None, envvar="SLIPWAY_TLS_CERT_DIR",
            type=click.Path(path_type=Path, file_okay=False), help="Directory with tls.crt, tls.key and ca.crt.",
        ),
        click.option("--insecure", is_flag=True, help="Call a server on this machine without TLS."),
    )  # fmt: skip


def output_option(help_text: str = "How to print it.") -> Callable[[F], F]:
    """Add -o table|json|yaml."""
    return click.option(
        "-o", "--output", type=click.Choice(OUTPUTS), default=OUTPUTS[0], show_default=True, help=help_text
    )


def files_from(values: dict[str, Any]) -> tuple[Path, ...]:
    """Take the files out of a command's values, those of -f first."""
    return (*values.pop("files"), *values.pop("arguments"))


def inputs_from(values: dict[str, Any], *, files: tuple[Path, ...] = ()) -> Inputs:
    """Take the input options out of a command's values; `files` stands for those that the command line names.

    Raises:
        click.UsageError: there is no file.
    """
    chosen = files or files_from(values)
    if not chosen:
        raise click.UsageError("which file? Give -f FILE, once or several times; - is standard input")
    return Inputs(
        files=chosen,
        variables=values.pop("variables"),
        set_missing=values.pop("set_missing"),
        machines=tuple(values.pop("machines", ())),
        target=values.pop("target", None) or "",
        substitute=not values.pop("no_substitution"),
    )


def connection_from(values: dict[str, Any]) -> Connection:
    """Take the connection options out of a command's values."""
    names = ("server", "registry", "tls_cert_dir", "insecure", "credentials", "profiles")
    return Connection(**{name: values.pop(name) for name in names})


def _with(command: F, *options: Callable[[F], F]) -> F:
    """Add options so that the help lists them in the order in which they stand here."""
    for option in reversed(options):
        command = option(command)
    return command


def address(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Check an option that is HOST:PORT or empty.

    Raises:
        click.BadParameter: it is neither; gRPC would take the port modulo 65536.
    """
    if "://" in value.removeprefix("dns:///"):
        raise click.BadParameter("it takes HOST:PORT, without a scheme")
    if value and not is_endpoint(value):
        raise click.BadParameter(f"it takes HOST:PORT, with a port from 1 to {_HIGHEST_PORT}; IPv6 in brackets")
    return value
