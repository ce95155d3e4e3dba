"""Tokens of joining machines: what each holds in the workload cluster is declared by its engine."""

import base64
from typing import Any

import pytest

from slipway.bootstrapper.engines.k0s.secrets import JOIN_TOKENS as K0S
from slipway.bootstrapper.engines.kubeadm.join_tokens import JOIN_TOKENS as KUBEADM
from tests.services.controller.scene import CLUSTER, Scene

NAMES = {"token-id", "token-secret", "description", "expiration"}
K0S_SPEC = {"provisioner": {"name": "cloud-init"}, "kubernetes": {"engine": "k0s"}}


def token(scene: Scene) -> dict[str, str]:
    """Give what the only token of the workload cluster holds."""
    (secret,) = scene.workload.all("Secret")
    assert secret["type"] == "bootstrap.kubernetes.io/token"
    return {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}


def values(scene: Scene) -> dict[str, str]:
    """Give what the engine wants in it."""
    return {key: value for key, value in token(scene).items() if key not in NAMES}


@pytest.mark.parametrize(
    ("spec", "control_plane", "wanted"),
    [
        ({"provisioner": {"name": "cloud-init"}}, False, KUBEADM.worker),
        (K0S_SPEC, False, K0S.worker),
        (K0S_SPEC, True, K0S.control_plane),
        ({**K0S_SPEC, "kubernetes": {}, "join": {"kubernetes": {"engine": "k0s"}}}, False, K0S.worker),
    ],
    ids=["kubeadm", "k0s worker", "k0s control plane", "k0s by the override of who joins"],
)
async def test_a_joining_machine_gets_a_token_of_its_engine(
    scene: Scene, spec: dict[str, Any], control_plane: bool, wanted: dict[str, str]
) -> None:
    """The one in its user data is the one in the cluster."""
    scene.plane(engine=spec.get("join", spec).get("kubernetes", {}).get("engine", "kubeadm"))
    scene.worker(spec=spec, control_plane=control_plane)
    await scene.reconcile()
    assert values(scene) == wanted
    made = token(scene)
    text = scene.value().decode()
    assert f"{made['token-id']}.{made['token-secret']}" in text


async def test_a_token_is_kept_in_the_form_of_its_engine(scene: Scene) -> None:
    """Upkeep puts right what was changed, from the config alone."""
    scene.plane(engine="k0s")
    scene.worker(spec=K0S_SPEC)
    await scene.reconcile()
    (secret,) = scene.workload.all("Secret")
    spoilt = {**secret["data"], "usage-bootstrap-api-auth": base64.b64encode(b"false").decode()}
    scene.workload.put({**secret, "data": spoilt})
    await scene.reconcile()
    assert values(scene) == K0S.worker


async def test_the_key_of_the_authority_is_on_no_joining_machine_of_k0s(scene: Scene) -> None:
    """A control plane of k0s fetches it by its token."""
    scene.secret(f"{CLUSTER}-ca", {"tls.crt": _authority(scene), "tls.key": b"the-key-itself"})
    scene.plane(engine="k0s")
    scene.worker(spec=K0S_SPEC, control_plane=True)
    await scene.reconcile()
    assert "controller-bootstrap" in scene.value().decode()
    assert "the-key-itself" not in scene.value().decode()


def _authority(scene: Scene) -> bytes:
    secret = scene.api.find("Secret", f"{CLUSTER}-ca") or {}
    return base64.b64decode(secret["data"]["tls.crt"])
