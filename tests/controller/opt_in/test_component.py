"""The component deploy/kubernetes/opt-in: what it adds to an overlay, judged by the real kustomize and API server."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import click
import pytest
import yaml

from slipway.controller.__main__ import main
from tests.controller import manifests
from tests.controller.site import Object, Site

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]


def _rendered(site: Site, folder: Path) -> list[Object]:
    shutil.copytree(manifests.ROOT, folder / "kubernetes")
    overlay = folder / "kubernetes" / "own"
    overlay.mkdir()
    content = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": ["../base"],
        "components": ["../opt-in"],
    }
    (overlay / "kustomization.yaml").write_text(yaml.safe_dump(content))
    done = subprocess.run(
        ["kubectl", "kustomize", str(overlay)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **site.environment.environment},
    )
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


async def test_the_controller_serves_what_the_api_server_asks(site: Site, tmp_path: Path) -> None:
    """Flag, port of the container and port of the Service meet the webhook's; the program knows the flag."""
    documents = await asyncio.to_thread(_rendered, site, tmp_path)
    found = {(document["kind"], document["metadata"]["name"]): document for document in documents}
    (webhook,) = found[manifests.WEBHOOK, "slipway-opt-in"]["webhooks"]
    asked = webhook["clientConfig"]["service"]
    service = found["Service", asked["name"]]
    (port,) = [one for one in service["spec"]["ports"] if one["port"] == asked["port"]]
    (container,) = found["Deployment", "slipway-controller"]["spec"]["template"]["spec"]["containers"]
    (served,) = [one for one in container["ports"] if one["name"] == port["targetPort"]]
    assert f"--webhook-address=[::]:{served['containerPort']}" in container["args"]
    main.make_parser(click.Context(main)).parse_args(list(container["args"]))
    (rule,) = found["NetworkPolicy", "slipway-webhook"]["spec"]["ingress"]
    assert [one["port"] for one in rule["ports"]] == [served["containerPort"]]
    assert (webhook["failurePolicy"], webhook["sideEffects"]) == ("Fail", "None")
    assert [one["operations"] for one in webhook["rules"]] == [["CREATE"]]
