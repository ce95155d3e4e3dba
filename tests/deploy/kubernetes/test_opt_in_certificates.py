"""Own certificates and the webhook of the component opt-in: the API server is told whom to trust, by the Job."""

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from tests.deploy.kubernetes import rendered
from tests.deploy.kubernetes.installation import NAMESPACE, OVERLAY, Installation
from tests.deploy.kubernetes.kubelet.kubelet import PATIENCE

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900), pytest.mark.xdist_group("pods")]

COMPONENTS = ("opt-in", "overlays/own-certificates/opt-in")
WEBHOOK = ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration")
NAME = "slipway-opt-in"
JOB = "slipway-certificates"


async def test_the_api_server_trusts_the_webhook(installation: Installation, tmp_path: Path) -> None:
    """It gets the bundle of the controller's Secret, whose certificate names the Service; applied again, it stays."""
    documents = await asyncio.to_thread(rendered.composed, tmp_path, overlay=OVERLAY, components=COMPONENTS)
    found = {(document["kind"], document["metadata"]["name"]): document for document in documents}
    cron, job = found["CronJob", JOB], found["Job", JOB]
    assert cron["spec"]["jobTemplate"]["spec"]["template"] == job["spec"]["template"]
    webhook = found[WEBHOOK[1], NAME]
    needed: list[dict[str, Any]] = [found["ClusterRole", JOB], found["ClusterRoleBinding", JOB], webhook]
    await asyncio.to_thread(installation.cluster.apply, needed)

    for _ in range(2):
        pod = await asyncio.to_thread(installation.kubelet.run, job)
        assert await asyncio.to_thread(pod.process.wait_ended, PATIENCE) == 0, pod.log()
        await asyncio.to_thread(installation.cluster.apply, [webhook])
        told = await asyncio.to_thread(installation.cluster.client.get, *WEBHOOK, NAME, namespace="")
        (hook,) = told["webhooks"]
        secret = installation.secret("slipway-controller-tls")
        assert base64.b64decode(hook["clientConfig"]["caBundle"]) == secret["ca.crt"]
        assert hook["clientConfig"]["service"] == webhook["webhooks"][0]["clientConfig"]["service"]
    certificate = x509.load_pem_x509_certificate(secret["tls.crt"])
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    service = hook["clientConfig"]["service"]
    assert f"{service['name']}.{NAMESPACE}.svc" in names.get_values_for_type(x509.DNSName)
