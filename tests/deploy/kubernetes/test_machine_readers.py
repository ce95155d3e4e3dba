"""User data by the name of a Machine: for a certificate that is on the list, or a token that may read the Secret."""

import asyncio
import copy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import grpc.aio
import pytest

from slipway.certificates.authority import Authority, Issued, Subject
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceStub
from tests.controller.site import Site, has_data
from tests.deploy.kubernetes.installation import GRPC, Installation, deployments, probed, until
from tests.deploy.kubernetes.kubelet.kubelet import Pod

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900), pytest.mark.xdist_group("pods")]

LISTED, STRANGER = "infrastructure", "stranger"
_SECONDS = 60.0


async def test_a_machine_s_data_for_those_who_may(installation: Installation, site: Site) -> None:
    """The list is by identity and namespace; a token opens what RBAC opens; nobody else gets a byte, or a hint."""
    await site.cluster()
    await site.workers("pool", {"provisioner": {"name": "cloud-init"}})
    (machine,) = await site.machines("pool", 1, has_data)
    name = machine["metadata"]["name"]
    stored = await site.secret(name)
    reader, nobody = await _token(site, "reader", may=True), await _token(site, "nobody", may=False)
    pod = await asyncio.to_thread(_controller, installation, f"spiffe://slipway/client/{LISTED}={site.namespace}")
    await until(lambda: probed(installation, pod, "readinessProbe"), "the controller is ready", pod)

    for who, token, reason in (
        (LISTED, "", "on the list, for this namespace"),
        (STRANGER, reader, "may get the Secret, by a role"),
        (LISTED, nobody, "who is on the list needs no token, whatever it is"),
    ):
        answer = await _ask(installation, pod, who, site.namespace, name, token=token)
        assert (answer.user_data, answer.format) == (stored, "cloud-config"), reason

    for who, namespace, asked, token, code in (
        (STRANGER, site.namespace, name, "", grpc.StatusCode.UNAUTHENTICATED),
        (STRANGER, site.namespace, name, "invented", grpc.StatusCode.UNAUTHENTICATED),
        (STRANGER, site.namespace, name, nobody, grpc.StatusCode.PERMISSION_DENIED),
        (STRANGER, site.namespace, "absent", nobody, grpc.StatusCode.PERMISSION_DENIED),
        (LISTED, "default", name, "", grpc.StatusCode.UNAUTHENTICATED),
        (LISTED, site.namespace, "absent", "", grpc.StatusCode.NOT_FOUND),
        (None, site.namespace, name, reader, grpc.StatusCode.UNAVAILABLE),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await _ask(installation, pod, who, namespace, asked, token=token)
        assert refused.value.code() == code, (who, namespace, asked, refused.value.details())
    assert stored.splitlines()[5].decode() not in pod.log()
    assert reader not in pod.log()
    await asyncio.to_thread(pod.process.stop)


def _controller(installation: Installation, readers: str) -> Pod:
    """Run a controller with a list of readers, as an operator's patch of the Deployment would have it."""
    deployment = copy.deepcopy(deployments(installation.cluster.client)["slipway-controller"])
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    container["env"].append({"name": "SLIPWAY_MACHINE_READERS", "value": readers})
    return installation.kubelet.run(deployment)


async def _token(site: Site, account: str, *, may: bool) -> str:
    administration = site.environment.administration
    await asyncio.to_thread(administration.service_account, site.namespace, account)
    metadata = {"name": account, "namespace": site.namespace}
    role: dict[str, Any] = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata,
        "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"] if may else ["list"]}],
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": account},
        "subjects": [{"kind": "ServiceAccount", **metadata}],
    }
    await site.apply(role, binding)
    return await asyncio.to_thread(lambda: administration.token(site.namespace, account, audience="slipway"))


async def _ask(  # noqa: PLR0913  # the parts of a question
    installation: Installation, pod: Pod, who: str | None, namespace: str, machine: str, *, token: str
) -> bootstrappb.GetUserDataResponse:
    request = bootstrappb.GetUserDataRequest()
    request.machine_reference.namespace, request.machine_reference.name = namespace, machine
    metadata = [("authorization", f"Bearer {token}")] if token else []
    async with _channel(installation, pod, who) as channel:
        answer: bootstrappb.GetUserDataResponse = await BootstrapServiceStub(channel).GetUserData(
            request, metadata=metadata, timeout=_SECONDS
        )
    return answer


@asynccontextmanager
async def _channel(installation: Installation, pod: Pod, who: str | None) -> AsyncIterator[grpc.aio.Channel]:
    """Connect with a certificate of the installation's own authority, or with none."""
    kept = installation.secret("slipway-authority")
    issued = None
    if who is not None:
        authority = Authority(
            trust_domain="slipway", now=datetime.now(UTC), validity=timedelta(hours=1),
            kept=Issued(kept["tls.crt"], kept["tls.key"]),
        )  # fmt: skip
        issued = authority.issue(Subject("client", who))
    credentials = grpc.ssl_channel_credentials(
        kept["ca.crt"], issued.key if issued else None, issued.certificate if issued else None
    )
    options = [("grpc.ssl_target_name_override", "slipway-controller"), ("grpc.enable_retries", 0)]
    door = installation.kubelet.door(pod, GRPC)
    async with grpc.aio.secure_channel(door, credentials, options=options) as channel:
        yield channel
