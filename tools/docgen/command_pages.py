"""Reference pages of the command line and of the servers' settings, from click and from the settings' models."""

import inspect
from collections.abc import Iterator, Sequence

import click
from pydantic_core import PydanticUndefined

from slipway.bootstrap_server.__main__ import main as bootstrapper_command
from slipway.bootstrapper.settings import BootstrapperSettings
from slipway.cli.command_line import cli
from slipway.controller.__main__ import main as controller_command
from slipway.controller.settings import ControllerSettings
from slipway.directory_service.__main__ import main as directory_command
from slipway.directory_service.settings import DirectorySettings
from slipway.embedded.provisioners import own_provisioners
from slipway.node_gateway.__main__ import main as gateway_command
from slipway.node_gateway.settings import GatewaySettings
from slipway.registry.__main__ import main as registry_command
from slipway.registry.settings import RegistrySettings
from slipway.rpc.settings import ServerSettings
from slipway.sdk.command import command as provisioner_command
from tools.docgen.markdown import anchor, code, page, prose, table


def cli_page() -> str:
    """Give docs/reference/cli.md."""
    introduction = """\
`slipway` works on files. Without `--server` everything runs in its own process: no port, no certificate. Results go to
standard output, remarks to standard error. Exit code 0: as asked; 1: something was refused or is invalid; 2:
wrong usage."""
    commands = list(_commands(cli, "slipway"))
    contents = "\n".join(f"- [{path}](#{anchor(path)}): {prose(one.get_short_help_str(200))}" for path, one in commands)
    return page(
        "slipway", "the command line itself", introduction, contents, *(_command(path, one) for path, one in commands)
    )


def settings_page() -> str:
    """Give docs/reference/settings.md."""
    introduction = """\
Every server takes its settings from flags and the environment: `--listen-address` is `SLIPWAY_LISTEN_ADDRESS`. A flag
wins. Yes and no are `true` and `false` there, an empty variable is as one that is not there, lists are comma-separated,
times are in seconds. The files below `--tls-cert-dir` are read again when they change. A server without it wants
`--insecure`, and then listens on a loopback address only."""
    shared = set(ServerSettings.model_fields)
    example = provisioner_command(own_provisioners()[0])
    return page(
        "Settings of the servers",
        "the settings themselves",
        introduction,
        "## Every server\n\n"
        + _settings(ServerSettings, example, sorted(shared, key=list(ServerSettings.model_fields).index)),
        "## slipway-registry\n\n" + _settings(RegistrySettings, registry_command, _own(RegistrySettings)),
        "## slipway-bootstrapper\n\n"
        + _settings(BootstrapperSettings, bootstrapper_command, _own(BootstrapperSettings)),
        "## slipway-controller\n\n"
        + _settings(ControllerSettings, controller_command, _flagged(ControllerSettings, controller_command)),
        "## slipway-directory\n\n" + _settings(DirectorySettings, directory_command, _own(DirectorySettings)),
        "## slipway-node-gateway\n\n" + _settings(GatewaySettings, gateway_command, _own(GatewaySettings)),
        "## slipway-provisioner-*\n\nNo settings of their own.",
    )


def _commands(one: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(one, click.Group):
        yield path, one
        return
    context = click.Context(one, info_name=path)
    for name in one.list_commands(context):
        below = one.get_command(context, name)
        if below is not None:
            yield from _commands(below, f"{path} {name}")


def _command(path: str, one: click.Command) -> str:
    above = click.Context(cli, info_name="slipway", **cli.context_settings)
    context = click.Context(one, parent=above, info_name=path)
    usage = f"{path} {' '.join(one.collect_usage_pieces(context))}"
    rows = []
    for parameter in one.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            variable = f" Environment: {code(parameter.envvar)}." if isinstance(parameter.envvar, str) else ""
            rows.append([code(record[0]), prose(record[1]) + variable])
    parts = [f"## {path}", f"```text\n{usage}\n```", _help(one.help or ""), table(["Option", ""], rows)]
    return "\n\n".join(parts)


def _help(text: str) -> str:
    """Give a help text: click's mark for text that keeps its lines is a code block here."""
    blocks = []
    for block in inspect.cleandoc(text).split("\n\n"):
        lines = block.split("\n")
        if lines[0] == "\b":
            title, *rest = lines[1:]
            blocks.append(f"{title}\n\n```text\n" + "\n".join(line.removeprefix("  ") for line in rest) + "\n```")
        else:
            blocks.append(prose(" ".join(line.strip() for line in lines)))
    return "\n\n".join(blocks)


def _own(model: type[ServerSettings]) -> list[str]:
    return [name for name in model.model_fields if name not in ServerSettings.model_fields]


def _flagged(model: type[ServerSettings], command: click.Command) -> list[str]:
    """Give the names of a server's own settings that have a flag: it may take over some of another server only."""
    flags = {one.name for one in command.params}
    return [name for name in _own(model) if name in flags]


def _settings(model: type[ServerSettings], command: click.Command, names: Sequence[str]) -> str:
    options = {one.name: one for one in command.params if isinstance(one, click.Option)}
    rows = []
    for name in names:
        option = options.get(name)
        default = model.model_fields[name].default
        rows.append(
            [
                _spellings(option),
                code(f"SLIPWAY_{name.upper()}"),
                _default(default),
                prose(option.help or "") if option is not None else _UNFLAGGED.get(name, ""),
            ]
        )
    return table(["Flag", "Environment", "Default", "Meaning"], rows)


def _default(value: object) -> str:
    if value is None or value == frozenset() or value is PydanticUndefined:
        return ""
    return code(str(value).lower() if isinstance(value, bool) else value)


def _spellings(option: click.Option | None) -> str:
    """Give the spellings of an option."""
    return "" if option is None else code(" / ".join([*option.opts, *option.secondary_opts]))


# What has no flag says what it is here.
_UNFLAGGED = {"max_call_seconds": "Most seconds that the server gives a call, whatever its deadline."}
