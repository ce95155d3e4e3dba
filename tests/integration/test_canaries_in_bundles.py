"""In a bundle that a provisioner gets secrets are in one place, and a provisioner with a defect quotes none."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from slipway.bootstrapper.bootstrapper import utc_now
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.contract.errors import SlipwayError
from slipway.embedded.provisioners import EmbeddedProvisioners, embedded_provisioners
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.rpc.client import invoke
from slipway.rpc.logs import configure_logging
from slipway.sdk import UserData
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.integration.canaries import found
from tests.integration.full_request import full_request
from tests.integration.watched import embedded, fitting, served, shown


class Listener(EmbeddedProvisioners):
    """Keeps what provisioners are sent."""

    def __init__(self, known: EmbeddedProvisioners) -> None:
        self._known = known
        self.bundles: list[bundlepb.BootstrapBundle] = []

    def instances(self) -> Any:
        """Give those that are listened to."""
        return self._known.instances()

    async def render(
        self,
        instance: registrypb.ProvisionerInstance,
        request: provisionerpb.RenderRequest,
        *,
        timeout: float,  # the protocol's own
    ) -> provisionerpb.RenderResponse:
        """Keep the bundle, and pass it on."""
        self.bundles.append(request.bundle)
        return await self._known.render(instance, request, timeout=timeout)


def canary_of(secret: secretpb.Secret, canary: str) -> bytes:
    """Give the canary as a value that its place takes: the hash of a password begins as those of crypt(3) do."""
    return (f"$6$salt${canary}" if secret.key == "hash" else canary).encode()


@pytest.mark.parametrize("role", ["cp-0", "worker-0"])
async def test_in_a_lowered_bundle_secrets_are_in_one_place(role: str) -> None:
    """The cluster's keys and tokens and the user's secrets are referred to, and never copied by engine or passes."""
    listener = Listener(embedded_provisioners())
    store = EphemeralStore(SecretFactory(entropy=SystemEntropy(), clock=utc_now))
    bootstrapper = embedded(store, listener)
    for provisioner in ("cloud-init", "ignition"):
        request = full_request(role)
        request.subject.spec.provisioner.name = provisioner
        for number, secret in enumerate(request.credentials.secrets):
            secret.value = canary_of(secret, fitting(number))
        await bootstrapper.user_data(request)
    for bundle in listener.bundles:
        values = [secret.value for secret in bundle.secrets.secrets]
        assert len(values) >= 3
        assert {secret.name for secret in bundle.secrets.secrets} >= {"team-secrets"}
        # A whole PEM block is found by a line of it.
        needles = {max(value.splitlines(), key=len).decode() for value in values}
        assert all(found(needle, bundle.SerializeToString()) for needle in needles)
        bundle.ClearField("secrets")
        rest = bundle.SerializeToString()
        assert [number for number, needle in enumerate(needles) if found(needle, rest)] == []


class Careless(CloudInit):
    """A provisioner with a defect that quotes what it was given."""

    def render(self, bundle: Any, target: Any, ctx: Any) -> UserData:
        """Fail as ordinary code fails."""
        secret = bundle.secrets.secrets[0].value.decode()
        raise KeyError(f"no such user: {secret}")


async def test_a_defect_quotes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """An exception's own text reaches neither the caller nor the log; an id leads from one to the other."""
    configure_logging(log_format="json", level="debug")
    request, canary = full_request(), fitting(0)
    for secret in request.credentials.secrets:
        secret.value = canary_of(secret, canary)
    bootstrapper = embedded(provisioners=EmbeddedProvisioners([Careless()]))
    async with served(bootstrapper, CollectorRegistry()) as stub:
        with pytest.raises(SlipwayError) as caught:
            await invoke(stub.GetUserData, request, timeout=20)
    logs = capsys.readouterr().err
    assert caught.value.reason == "INTERNAL"
    assert caught.value.metadata["error_id"] in logs
    assert "KeyError" in logs
    assert not found(canary, logs)
    assert not found(canary, shown(caught.value))
