"""Every machine of the examples by every provisioner, rendered once for all tests of this folder."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from slipway.cli.connecting import connected
from slipway.cli.loading import load
from slipway.cli.options import Connection, Inputs
from slipway.cli.rendering import ALL, Rendered, ask, wishes

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FILES = {
    **{path.name: (path,) for path in sorted(EXAMPLES.glob("*.yaml"))},
    "pool-native.yaml": (EXAMPLES / "cluster-aws.yaml", EXAMPLES / "pool-native.yaml"),
}
"""What is read for each example."""


@dataclass(frozen=True)
class Outcome:
    """What came of one machine.

    Attributes:
        example: the file that it is the point of.
        own: the answer when the choice is left to the spec.
        all: the answers of all provisioners in their default formats.
    """

    example: str
    own: Rendered
    all: tuple[Rendered, ...]


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """The outcomes by machine."""
    credentials = tmp_path_factory.mktemp("credentials")
    connection = Connection("", "", None, insecure=False, credentials=credentials, profiles=None)
    return asyncio.run(_outcomes(connection))


async def _outcomes(connection: Connection) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    async with connected(connection) as backend:
        instances = await backend.provisioners()
        for example, files in FILES.items():
            for question in load(Inputs(files, {}, set_missing=True)).questions:
                if question.name in found:
                    continue
                answers = [await ask(backend, question, *wish) for wish in wishes(instances, ALL, "")]
                found[question.name] = Outcome(example, await ask(backend, question, "", ""), tuple(answers))
    return found
