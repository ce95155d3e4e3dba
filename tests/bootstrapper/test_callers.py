"""Who may call a bootstrapper: it hands out the keys of clusters."""

from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from slipway.bootstrapper.callers import Callers
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.credentials.store import ClusterKey, Credentials, KeySettings
from slipway.bootstrapper.provisioning_service import provisioning_service
from slipway.bootstrapper.service import BootstrapServicer
from slipway.bootstrapper.settings import BootstrapperSettings
from slipway.contract.errors import PermissionDenied, SlipwayError, SpecInvalid, Unauthenticated
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.rpc.call import Call
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.rpc.identity import Identity
from slipway.rpc.server import RpcServer, Service
from slipway.rpc.tls import CertificateFiles
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import (
    BootstrapServiceStub,
    add_BootstrapServiceServicer_to_server,
)
from slipway.v1alpha1.provisioning_service_pb2_grpc import ProvisioningServiceStub
from tests.services.certificates import Authority

CALL = Call(service="slipway.v1alpha1.BootstrapService", method="GetUserData", streaming=False)
CONTROLLER = "spiffe://slipway/controller/a"
OTHER = "spiffe://slipway/client/b"


def policy(**settings: Any) -> Callers:
    """The policy of a server with these settings."""
    chosen = BootstrapperSettings(listen_address="127.0.0.1:0", **settings)
    return Callers(chosen.allowed_callers, trust_domain=chosen.trust_domain)


@pytest.mark.parametrize(
    ("settings", "ids", "error", "reason"),
    [
        ({"credentials_dir": Path("kept")}, (CONTROLLER,), PermissionDenied, "it keeps keys and nobody was named"),
        ({"credentials_dir": Path("kept"), "callers": CONTROLLER}, (CONTROLLER,), None, "it was named"),
        ({"credentials_dir": Path("kept"), "callers": CONTROLLER}, (OTHER,), PermissionDenied, "another was named"),
        ({}, (OTHER,), None, "the caller brings the keys itself"),
        ({}, (CONTROLLER,), None, "a controller"),
        ({}, ("spiffe://slipway/infrastructure/aws",), None, "an infrastructure provider"),
        ({}, ("spiffe://slipway/node-gateway/x",), PermissionDenied, "a role that nobody knows"),
        ({}, ("spiffe://client/x/y",), PermissionDenied, "a domain that is called as a role is"),
        ({}, ("spiffe://slipway",), PermissionDenied, "no role at all"),
        ({}, ("spiffe://elsewhere/client/b",), PermissionDenied, "a client of another trust domain"),
        ({"trust_domain": "elsewhere"}, ("spiffe://elsewhere/client/b",), None, "a client of the server's own domain"),
        ({"callers": "spiffe://elsewhere/ci/x"}, ("spiffe://elsewhere/ci/x",), None, "another domain that was named"),
        ({}, (OTHER, "spiffe://slipway/reports/r"), PermissionDenied, "a server of reports with a second name"),
        ({"callers": "spiffe://slipway/ci/x"}, ("spiffe://slipway/ci/x",), None, "any role that was named"),
        ({}, (), Unauthenticated, "a certificate that names nobody, such as one with a DNS name only"),
        ({}, ("spiffe://slipway/provisioner/x",), PermissionDenied, "a provisioner"),
        ({}, ("spiffe://slipway/registry/registry",), PermissionDenied, "the registry"),
        ({}, ("spiffe://slipway/bootstrapper/b",), PermissionDenied, "a bootstrapper"),
        ({}, (OTHER, "spiffe://slipway/provisioner/x"), PermissionDenied, "a provisioner with a second name"),
        ({"callers": "spiffe://slipway/provisioner/x"}, ("spiffe://slipway/provisioner/x",), PermissionDenied, "never"),
    ],
)
def test_with_tls(
    settings: dict[str, Any], ids: tuple[str, ...], error: type[SlipwayError] | None, reason: str
) -> None:
    """By default only who cannot gain by it, and where keys are kept only who was named."""
    found = None
    try:
        policy(tls_cert_dir=Path("certs"), **settings)(CALL, Identity(ids))
    except SlipwayError as raised:
        found = type(raised)
    assert found is error, reason


def test_without_tls_this_machine_calls() -> None:
    """There are no identities then; the server listens on loopback only."""
    policy(insecure=True, credentials_dir=Path("kept"))(CALL, None)


@pytest.mark.parametrize(
    ("callers", "ids", "namespace", "allowed", "reason"),
    [
        (CONTROLLER, (CONTROLLER,), "team-a", True, "a plain id may ask about every cluster"),
        (CONTROLLER, (CONTROLLER,), "", True, "also about one without a namespace"),
        (f"{CONTROLLER}=*", (CONTROLLER,), "", True, "the star says the same"),
        (f"{CONTROLLER}=team-a", (CONTROLLER,), "team-a", True, "it is its namespace"),
        (f"{CONTROLLER}=team-a", (CONTROLLER,), "team-b", False, "it is another's namespace"),
        (f"{CONTROLLER}=team-a", (CONTROLLER,), "team", False, "a part of a name is another name"),
        (f"{CONTROLLER}=team-a", (CONTROLLER,), "", False, "no namespace is nobody's in particular"),
        (f"{CONTROLLER}=team-a", (CONTROLLER,), "*", False, "a request cannot ask for all"),
        (f"{CONTROLLER}=team-a,{CONTROLLER}=team-b", (CONTROLLER,), "team-b", True, "entries add up"),
        (f"{CONTROLLER}=team-a,{OTHER}=team-b", (OTHER,), "team-a", False, "each has its own"),
        (f"{CONTROLLER}=team-a,{OTHER}=team-b", (OTHER, CONTROLLER), "team-a", True, "one certificate with both ids"),
    ],
)
def test_a_caller_is_held_to_its_namespaces(
    callers: str, ids: tuple[str, ...], namespace: str, *, allowed: bool, reason: str
) -> None:
    """Whoever is named for a namespace may ask about the clusters there, and about no others."""
    asked = policy(tls_cert_dir=Path("certs"), callers=callers)
    asked(CALL, Identity(ids))
    found = True
    try:
        asked.check_cluster(Identity(ids), namespace)
    except PermissionDenied:
        found = False
    assert found is allowed, reason


@pytest.mark.parametrize(
    "entry", ["controller", f"{CONTROLLER}=", f"{CONTROLLER}=Team A", f"{CONTROLLER}=a=b", "=team-a"]
)
def test_an_entry_that_means_nothing_stops_the_start(entry: str) -> None:
    """A list that cannot be read allows nobody by accident: the server does not start."""
    with pytest.raises(ValueError, match="must be ID, ID=\\* or ID=NAMESPACE"):
        BootstrapperSettings(listen_address="127.0.0.1:0", insecure=True, callers=frozenset({entry}))


@pytest.mark.parametrize("role", ["provisioner", "registry", "bootstrapper", "reports", "node-gateway", "directory"])
@pytest.mark.parametrize("allowed", [None, "{id}", "{id}=*", "{id}=team-a"])
def test_a_certificate_of_a_service_never_calls(role: str, allowed: str | None) -> None:
    """Not by default, and not when the operator names it: a provisioner would get the keys of clusters."""
    service = f"spiffe://slipway/{role}/x"
    named = Callers(None if allowed is None else [allowed.format(id=service)])
    with pytest.raises(PermissionDenied, match="a service may not call"):
        named(CALL, Identity((service,)))


class Watched:
    """A store that knows whose secrets were asked for."""

    def __init__(self) -> None:
        self.asked: list[ClusterKey] = []

    def ensure(
        self, cluster: ClusterKey, declarations: Iterable[secretpb.SecretDeclaration], settings: KeySettings
    ) -> Credentials:
        """Note the cluster, and give placeholders."""
        self.asked.append(cluster)
        return PlaceholderStore().ensure(cluster, declarations, settings)


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.fixture
async def stub(watched: Watched, tmp_path: Path) -> AsyncIterator[Any]:
    """A client with the certificate of CONTROLLER, held to team-a, of a real server with TLS."""
    authority = Authority()
    settings = BootstrapperSettings(
        listen_address="127.0.0.1:0",
        tls_cert_dir=authority.fill(tmp_path / "server"),
        credentials_dir=tmp_path / "kept",
        callers=frozenset({f"{CONTROLLER}=team-a"}),
    )
    callers = Callers(settings.allowed_callers)
    service = Service.of(
        bootstrappb.DESCRIPTOR.services_by_name["BootstrapService"],
        add_BootstrapServiceServicer_to_server,
        BootstrapServicer(embedded_bootstrapper(store=watched), callers),
    )
    server = RpcServer(settings, [service], policy=callers)
    client = CertificateFiles(authority.fill(tmp_path / "client", uris=[CONTROLLER]))
    channels = ChannelPool(tls=client, trust_domain="slipway")
    await server.start()
    try:
        yield BootstrapServiceStub(channels.get(f"localhost:{server.port}", retries=False))
    finally:
        await channels.close()
        await server.stop(grace=0)


@pytest.fixture
async def provisioning(watched: Watched, tmp_path: Path) -> AsyncIterator[Callable[[str], Any]]:
    """Give a function: a client of ProvisioningService with a certificate for an id; CONTROLLER is held to team-a."""
    authority = Authority()
    settings = BootstrapperSettings(
        listen_address="127.0.0.1:0",
        tls_cert_dir=authority.fill(tmp_path / "server"),
        callers=frozenset({f"{CONTROLLER}=team-a"}),
    )
    service = provisioning_service(embedded_bootstrapper(store=watched))
    server = RpcServer(settings, [service], policy=Callers(settings.allowed_callers))
    await server.start()
    opened: list[ChannelPool] = []

    def client(identity: str) -> Any:
        files = CertificateFiles(authority.fill(tmp_path / f"client-{len(opened)}", uris=[identity]))
        opened.append(ChannelPool(tls=files, trust_domain="slipway"))
        return ProvisioningServiceStub(opened[-1].get(f"localhost:{server.port}", retries=False))

    try:
        yield client
    finally:
        for channels in opened:
            await channels.close()
        await server.stop(grace=0)


def own_plan() -> provisioningpb.ProvisionRequest:
    """Give a machine whose plan its caller brings."""
    request = provisioningpb.ProvisionRequest(machine_name="m")
    request.spec.provisioner.name = "cloud-init"
    step = request.spec.plan.steps.add(id="a", phase=planpb.PHASE_BOOTSTRAP)
    step.command.argv.append("true")
    return request


@pytest.mark.parametrize("identity", [OTHER, "spiffe://slipway/provisioner/x", "spiffe://slipway/registry/r"])
async def test_a_plan_of_its_own_gives_an_identity_no_right(
    provisioning: Callable[[str], Any], watched: Watched, identity: str
) -> None:
    """Both calls refuse who is not on the list, and a service always."""
    stub, request = provisioning(identity), own_plan()
    explain = provisioningpb.ExplainProvisionRequest(spec=request.spec)
    for method, question in ((stub.Provision, request), (stub.ExplainProvision, explain)):
        with pytest.raises(PermissionDenied):
            await invoke(method, question, timeout=30)
    assert watched.asked == []


async def test_a_namespace_does_not_bind_a_caller_with_a_plan_of_its_own(
    provisioning: Callable[[str], Any], watched: Watched
) -> None:
    """It brings all secrets itself: nothing of any cluster is read, so there is no cluster to be held to."""
    answer = await invoke(provisioning(CONTROLLER).Provision, own_plan(), timeout=30)
    assert answer.format == "cloud-config"
    assert watched.asked == []


def subject(namespace: str) -> bootstrappb.Subject:
    """Give a control-plane machine, whose user data hold the keys of its cluster."""
    return bootstrappb.Subject(
        spec=specpb.MachineBootstrapSpec(provisioner=specpb.ProvisionerChoice(name="cloud-init")),
        cluster=clusterpb.Cluster(
            name="c",
            namespace=namespace,
            kubernetes_version="v1.34.2",
            endpoint=clusterpb.Endpoint(host="h", port=6443),
        ),
        machine=clusterpb.Machine(name="m", role=clusterpb.ROLE_INIT),
    )


async def test_a_cluster_of_another_namespace_is_refused_before_its_secrets_are_touched(
    stub: Any, watched: Watched
) -> None:
    """Every call about a cluster is refused over the wire, and the store is never asked."""
    others = subject("team-b")
    for method, request in (
        (stub.GetUserData, bootstrappb.GetUserDataRequest(subject=others)),
        (stub.GetBundle, bootstrappb.GetBundleRequest(subject=others, lowered=True)),
        (stub.Explain, bootstrappb.ExplainRequest(subject=others)),
    ):
        with pytest.raises(PermissionDenied) as caught:
            await invoke(method, request, timeout=30)
        assert [violation.path for violation in caught.value.violations] == ["cluster.namespace"]
    assert not watched.asked


@pytest.mark.parametrize("method", ["GetUserData", "GetBundle", "Explain", "ImportKubeadmConfig"])
async def test_a_request_with_an_unknown_field_is_refused(stub: Any, watched: Watched, method: str) -> None:
    """A newer caller would get something else than it asked for."""
    kind = getattr(bootstrappb, f"{method}Request")
    with pytest.raises(SpecInvalid) as caught:
        await invoke(getattr(stub, method), kind.FromString(b"\xfa\x3e\x01x"), timeout=30)
    assert [violation.path for violation in caught.value.violations] == ["request"]
    assert not watched.asked


async def test_a_cluster_of_its_own_namespace_is_served(stub: Any, watched: Watched) -> None:
    """The same caller gets user data with the keys of a cluster of its namespace."""
    answer = await invoke(stub.GetUserData, bootstrappb.GetUserDataRequest(subject=subject("team-a")), timeout=30)
    assert answer.user_data
    assert watched.asked == [ClusterKey("c", "team-a")]
