"""A worker never gets the private key of an authority: over all examples, engines, roles and provisioners."""

import contextlib
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from slipway.bootstrapper.bootstrapper import utc_now
from slipway.bootstrapper.credentials.entropy import KeyType, PrivateKey, SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.engines.table import installed_engines
from slipway.bootstrapper.provisioning_service import provision
from slipway.contract.errors import SlipwayError, SpecInvalid
from slipway.embedded.provisioners import embedded_provisioners
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper import provision_requests
from tests.bootstrapper.asking import EXAMPLES, asked
from tests.integration.canaries import found
from tests.integration.test_canaries_in_bundles import Listener
from tests.integration.watched import embedded

pytestmark = pytest.mark.long

AUTHORITIES = (secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY, secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY_ED25519)
ROLES = [clusterpb.ROLE_INIT, clusterpb.ROLE_CONTROL_PLANE, clusterpb.ROLE_WORKER]
PROVISIONERS = [instance.info.name for instance in embedded_provisioners().instances()]
ENGINES = list(installed_engines().names)


class Quick(SystemEntropy):
    """Makes keys of elliptic curves, whatever is asked for: those of RSA take seconds."""

    def private_key(self, key_type: KeyType) -> PrivateKey:
        """Give a key that no other secret has."""
        return super().private_key(key_type) if key_type is KeyType.ED25519 else ec.generate_private_key(ec.SECP256R1())


class Store(EphemeralStore):
    """Keeps the private keys of the authorities that it has made."""

    def __init__(self) -> None:
        super().__init__(SecretFactory(entropy=Quick(), clock=utc_now))
        self.keys: set[str] = set()

    def ensure(self, *arguments: Any) -> Any:
        """Give the secrets, and note the keys by a line of each."""
        credentials = super().ensure(*arguments)
        keys = [each for each in credentials.secrets if each.kind in AUTHORITIES and each.key == "tls.key"]
        self.keys |= {max(each.value.decode().splitlines(), key=len) for each in keys}
        return credentials


class Greedy(Listener):
    """Provisioners that declare an authority of their own, with its key for every role."""

    def instances(self) -> list[registrypb.ProvisionerInstance]:
        """Give them."""
        instances = []
        for instance in super().instances():
            greedy = registrypb.ProvisionerInstance()
            greedy.CopyFrom(instance)
            for declared in greedy.info.formats:
                declared.secrets.add(
                    name=f"{greedy.info.name}.slipway.dev/greedy",
                    kind=secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY,
                    full_roles=[clusterpb.Role.Name(role) for role in ROLES],
                )
            instances.append(greedy)
        return instances


def machines() -> list[MachineQuestion]:
    """Give a machine of each config of the examples."""
    read = [read_document_set({str(path): path.read_text()}, variables={}, set_missing=True) for path in EXAMPLES]
    questions = [question for document_set in read for question in document_set.questions]
    return list({(each.standing.file, each.standing.config): each for each in questions}.values())


def has_key(bundle: bundlepb.BootstrapBundle, keys: set[str]) -> bool:
    """Return whether the key of an authority is among the secrets, or its text is anywhere else."""
    listed = any(each.kind in AUTHORITIES and each.key == "tls.key" for each in bundle.secrets.secrets)
    return listed or any(found(key, bundle.SerializeToString()) for key in keys)


@pytest.mark.parametrize("provisioner", PROVISIONERS)
@pytest.mark.parametrize("bootstrapped_by", ENGINES)
async def test_no_worker_gets_the_key_of_an_authority(bootstrapped_by: str, provisioner: str) -> None:
    """Every config of the examples, also where the provisioner asks for a key on workers.

    The first machine of a control plane does get keys, so what is looked for would be seen.
    """
    store, listener = Store(), Greedy(embedded_provisioners())
    bootstrapper = embedded(store, listener)
    plan = provisioner in {"cloud-init", "ignition"}
    for role in (clusterpb.ROLE_WORKER, clusterpb.ROLE_INIT):
        listener.bundles.clear()
        for question in machines() if role == clusterpb.ROLE_WORKER else found_in("native.yaml"):
            request = asked(question, provisioner)
            request.subject.machine.role = role
            request.subject.cluster.ClearField("control_plane")
            if plan:
                request.subject.cluster.control_plane = bootstrapped_by
            request.subject.spec.kubernetes.ClearField("engine")
            with contextlib.suppress(SlipwayError):
                await bootstrapper.user_data(request)
        assert any(each.secrets.secrets for each in listener.bundles) or (provisioner, role) == (
            "windows",
            clusterpb.ROLE_INIT,
        )
        with_keys = [bundle for bundle in listener.bundles if has_key(bundle, store.keys)]
        assert bool(with_keys) == (role == clusterpb.ROLE_INIT and bool(listener.bundles))


def found_in(example: str) -> list[MachineQuestion]:
    """Give the machines of one example."""
    return [each for each in machines() if each.standing.file.endswith(example)]


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
async def test_a_foreign_plan_gets_no_key_of_a_cluster(provisioner: str) -> None:
    """Neither by its own words, since a name of the cluster's is refused, nor as the provisioner asks for one."""
    store, listener = Store(), Greedy(embedded_provisioners())
    bootstrapper = embedded(store, listener)
    spec = provision_requests.changed(provisioner={"name": provisioner})
    await provision(bootstrapper, provision_requests.request(spec))
    assert listener.bundles
    assert not any(has_key(bundle, store.keys) for bundle in listener.bundles)
    listener.bundles.clear()
    reference = {"secretRef": {"name": "slipway.dev/cluster-ca", "key": "tls.key"}}
    spec["os"] = {"files": [{"path": "/etc/ca.key", "content": reference}]}
    with pytest.raises(SpecInvalid) as caught:
        await provision(bootstrapper, provision_requests.request(spec))
    assert [each.path for each in caught.value.violations] == ["spec.os.files[0].content.secretRef.name"]
    assert not listener.bundles
