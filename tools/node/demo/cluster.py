"""The cluster of the demo: which machines of the example there are, and who boots them."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

from slipway.cli.loading import load
from slipway.cli.options import Inputs
from slipway.cli.remote import RemoteBackend
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tools.node import addresses
from tools.node.first_disk import FirstBoot
from tools.node.flavours import FLAVOURS

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/native.yaml"
EXAMPLE_VERSION = "v1.34.2"
VERSION = FLAVOURS["1.34"].version
NEIGHBOURS = {"api.harbour.example.com": addresses.machine(1)}


@dataclasses.dataclass(frozen=True, slots=True)
class Planned:
    """A machine of the demo: its own name, the machine of the example that it is, and what reads its user data."""

    name: str
    example: str
    by: FirstBoot


MACHINES = (
    Planned("harbour-cp-0", "harbour-cp-0", FirstBoot.CLOUD_INIT),
    Planned("harbour-worker", "harbour-worker", FirstBoot.CLOUD_INIT),
    Planned("harbour-worker-2", "harbour-worker", FirstBoot.IGNITION),
)


async def user_data(backend: RemoteBackend) -> dict[str, bootstrappb.GetUserDataResponse]:
    """What the services answer for each machine, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / EXAMPLE.name
        spec.write_text(EXAMPLE.read_text(encoding="utf-8").replace(EXAMPLE_VERSION, VERSION), encoding="utf-8")
        loaded = load(Inputs((spec,), {}, set_missing=False, machines=()))
    questions = {question.name: question for question in loaded.questions}
    answers = {}
    for planned in MACHINES:
        subject = bootstrappb.Subject()
        subject.CopyFrom(questions[planned.example].subject)
        subject.spec.provisioner.name = planned.by
        request = bootstrappb.GetUserDataRequest(subject=subject, accept_attachments=True)
        answers[planned.name] = await backend.user_data(request)
    return answers
