"""The usual overlays: one Deployment, with all that it needs and nothing else."""

from collections.abc import Callable
from typing import Any

import click
import pytest

from slipway.certificates.job import main as certificates
from slipway.controller.__main__ import main as controller
from slipway.embedded.provisioners import NAMES
from tests.deploy.kubernetes import rendered

pytestmark = pytest.mark.engine

OVERLAYS = ("overlays/cert-manager", "overlays/own-certificates")
OTHERS = ("registry", "provisioner", *NAMES)


@pytest.fixture(params=OVERLAYS)
def documents(request: pytest.FixtureRequest, engine: Callable[..., None]) -> list[dict[str, Any]]:
    """An overlay of either kind."""
    engine("kubebox-1.34")
    return rendered.documents(request.param)


def test_only_the_controller_is_deployed(documents: list[dict[str, Any]]) -> None:
    """No object of a registry or of a provisioner is left, whatever its kind."""
    assert [each["metadata"]["name"] for each in documents if each["kind"] == "Deployment"] == ["slipway-controller"]
    names = {each["metadata"]["name"] for each in documents}
    assert not [name for name in names if any(other in name for other in OTHERS)]


def test_its_arguments_are_known(documents: list[dict[str, Any]]) -> None:
    """The controller embeds every provisioner and asks no registry; all flags are those of the programs."""
    commands = {"Deployment": controller, "Job": certificates}
    for each in documents:
        if each["kind"] not in commands:
            continue
        (container,) = each["spec"]["template"]["spec"]["containers"]
        command = commands[each["kind"]]
        command.make_parser(click.Context(command)).parse_args(list(container["args"]))
        if each["kind"] == "Deployment":
            assert f"--embedded-provisioners={','.join(NAMES)}" in container["args"]
            assert not [argument for argument in container["args"] if "registry" in argument]


def test_every_certificate_has_its_owner(documents: list[dict[str, Any]]) -> None:
    """Secrets are made for what runs, by cert-manager or by the Job, which may write no other."""
    made = {each["metadata"]["name"] for each in documents if each["kind"] == "Secret"}
    made |= {each["spec"]["secretName"] for each in documents if each["kind"] == "Certificate"}
    assert made == {"slipway-authority", "slipway-controller-tls"}
    roles = {each["metadata"]["name"]: each["rules"] for each in documents if each["kind"] == "Role"}
    if "slipway-certificates" in roles:
        assert set(roles["slipway-certificates"][0]["resourceNames"]) == made
        jobs = {each["kind"]: each["spec"] for each in documents if each["kind"] in {"Job", "CronJob"}}
        assert jobs["CronJob"]["jobTemplate"]["spec"]["template"] == jobs["Job"]["template"]
        (container,) = jobs["Job"]["template"]["spec"]["containers"]
        assert [each for each in container["args"] if each.startswith("--subject=")] == [
            "--subject=controller/controller=slipway-controller,slipway-controller.$(POD_NAMESPACE).svc"
        ]
