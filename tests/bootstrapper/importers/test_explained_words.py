"""Explain says of an imported config what errors say: in the words of its document, at the field that it is about."""

from slipway.bootstrapper.explanation import explain
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.asking import bootstrapper
from tests.bootstrapper.importers.test_blame import imported

WORKER = clusterpb.ROLE_WORKER
CONFIG = {
    "users": [{"name": "ann", "homeDir": "/srv/ann"}],
    "preKubeadmCommands": ["echo {{ ds.meta_data.local_hostname | upper }}"],
}


async def cells(provisioner: str) -> dict[str, bootstrappb.ExplainCell]:
    """Give what the first format of a provisioner makes of each feature of the config."""
    spec = imported(CONFIG, "v1beta2", WORKER).spec
    request = bootstrappb.ExplainRequest()
    request.subject.spec.CopyFrom(spec)
    request.subject.cluster.name, request.subject.cluster.kubernetes_version = "c", "v1.36.0"
    request.subject.cluster.endpoint.host = "api.example.com"
    request.subject.machine.name, request.subject.machine.role = "m", WORKER
    answer = await explain(bootstrapper(), request)
    number = [column.provisioner for column in answer.columns].index(provisioner)
    return {row.feature: row.cells[number] for row in answer.rows}


async def test_cells_have_the_names_of_the_document() -> None:
    """Who wrote the config never saw the neutral item; only the first of a remedy's equal words is a name."""
    cell = (await cells("windows"))["os.users.home"]
    assert cell.verdict == bootstrappb.VERDICT_REFUSED
    assert cell.reason == "homeDir of a user means nothing on Windows"
    assert cell.remedy == "drop homeDir: Windows makes the home directory at the first login"


async def test_what_is_refused_has_its_row() -> None:
    """A refusal that knows only where the user wrote the item is shown there."""
    cell = (await cells("ignition"))["os.commands.pre"]
    assert (cell.verdict, "template text" in cell.reason) == (bootstrappb.VERDICT_REFUSED, True)
