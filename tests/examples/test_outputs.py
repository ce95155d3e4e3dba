"""Every user data of every example, in every format, is taken by the program that reads it on a machine."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from slipway.cli.command_line import cli
from tests.examples.conftest import FILES
from tools.oracles import outputs

pytestmark = [pytest.mark.engine, pytest.mark.timeout(240)]


@pytest.mark.parametrize("example", FILES)
def test_the_programs_of_the_machines_take_what_is_rendered(
    example: str, tmp_path: Path, engine: Callable[..., None]
) -> None:
    """What `render -o` writes is read, whoever rendered it: no format without a reader, and no refusal."""
    engine(*dict.fromkeys(name for reader in outputs.READERS for name in reader.engines))
    given = [word for file in FILES[example] for word in ("-f", str(file))]
    asked = ["render", *given, "--set-missing", "--provisioner", "all", "--format", "all", "-o", str(tmp_path)]
    answer = CliRunner().invoke(cli, asked)
    assert answer.exit_code == 0, answer.output
    readings = outputs.read(tmp_path)
    assert readings
    assert [str(reading) for reading in readings if reading.unread or reading.errors] == []
