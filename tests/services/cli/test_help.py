"""`--help` teaches: what, examples, exit codes; the examples are commands that exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from slipway.cli.command_line import cli
from tests.services.cli.conftest import Slipway


def commands(one: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Give every command that does something, with its words."""
    if isinstance(one, click.Group):
        context = click.Context(one)
        for name in one.list_commands(context):
            below = one.get_command(context, name)
            assert below is not None
            yield from commands(below, (*path, name))
    else:
        yield path, one


ALL = dict(commands(cli, ()))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_help_teaches(slipway: Slipway, path: tuple[str, ...]) -> None:
    """Each command says what it does, shows examples and tells its exit codes; every option says something."""
    text = slipway(*path, "--help").stdout
    assert "Examples:" in text
    assert re.search(r"Exit codes:\n +0  \S", text)
    for parameter in ALL[path].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


EXAMPLES = [
    line.strip().partition("#")[0]
    for _, one in ALL.items()
    for line in str(one.help).splitlines()
    if line.strip().startswith("slipway ")
]


@pytest.mark.parametrize("line", EXAMPLES)
def test_every_example_is_a_command_that_exists(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its options are parsed as they stand, where its files are; nothing is run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "faults.yaml").touch()
    words = shlex.split(line.partition(">")[0])[1:]
    one: click.Command = cli
    while isinstance(one, click.Group):
        below = one.get_command(click.Context(one), words.pop(0))
        assert below is not None
        one = below
    with one.make_context("slipway", words, resilient_parsing=False):
        pass


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in ALL
        if path
        not in {
            ("completion",),
            ("logs",),
            *(("provisioner", name) for name in ("fake", "new", "serve")),
            ("render",),
            ("directory", "blob"),
            ("directory", "preset"),
        }
    ],
)
def test_every_command_has_three_forms_of_output(path: tuple[str, ...]) -> None:
    """`-o table|json|yaml` everywhere; render keeps -o for its files, has --summary; credentials go to files."""
    (option,) = [param for param in ALL[path].params if "-o" in param.opts]
    assert isinstance(option.type, click.Choice)
    assert list(option.type.choices) == ["table", "json", "yaml"]


def test_an_unknown_command_is_a_wrong_command_line(slipway: Slipway) -> None:
    """Exit code 2, as for an unknown option."""
    assert slipway("rendr").exit_code == 2
    assert slipway("render", "--fiel", "x").exit_code == 2
    assert slipway("--version").stdout.startswith("slipway, version ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(slipway: Slipway, shell: str) -> None:
    """For three shells; another one is a wrong command line."""
    assert "_SLIPWAY_COMPLETE" in slipway("completion", shell).stdout
    assert slipway("completion", "cmd").exit_code == 2
