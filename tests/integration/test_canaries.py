"""No value of a request gets out by any way but the user data: not by errors, logs, metrics, explain or shown bundles.

Each value of a rich request is replaced in turn by a canary, once by one that most grammars take and that so travels
far, once by one that most refuse. Then the canary is looked for in everything that a person or a machine gets to see.
"""

import base64
import secrets
import urllib.request
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest

from bootstrapper.bootstrapper import Bootstrapper, utc_now
from bootstrapper.credentials.entropy import SystemEntropy
from bootstrapper.credentials.ephemeral_store import EphemeralStore
from bootstrapper.credentials.generation import SecretFactory
from bootstrapper.credentials.placeholder_store import PlaceholderStore
from bootstrapper.service import BootstrapServicer
from provisioners.cloud_init.render import CloudInit
from provisioners.sdk import UserData
from services.cli.embedded import EmbeddedProvisioners, compiler, embedded_provisioners
from services.contract.errors import NoManagementCluster, SlipwayError
from services.contract.redaction import redacted
from services.rpc.channel import ChannelPool
from services.rpc.client import invoke
from services.rpc.logs import configure_logging
from services.rpc.prometheus import PrometheusRecorder
from services.rpc.server import RpcServer, Service
from services.rpc.settings import ServerSettings
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceStub, add_BootstrapServiceServicer_to_server
from tests.integration.canaries import Place, distinct, found, name_of, put
from tests.integration.full_request import full_request

NAMES = {
    "subject.spec.provisioner.name": "a name that the operator's list is asked for",
    "subject.spec.provisioner.version": "a version that is not there",
    "secret_ref.name": "names the Secret that is missing: nobody could create it who is not told which",
    "secret_ref.key": "names the key that is missing in it",
}
"""Ends of field paths whose values may be told, as far as they fit their grammar, and why.

They are names, which the design lets errors hold (field names, feature ids, keys that are no secret): a reference says
where a secret is and nothing of it, and stands in the cluster's objects where whoever may read the error reads it, too.
Their grammar keeps out what is no name, so that no value that was put there by mistake is told.
"""


def fitting(number: int) -> str:
    """Give a canary that most grammars take."""
    return f"cnry{number:03d}{secrets.token_hex(4)}"


def unfitting(number: int) -> str:
    """Give a canary that most grammars refuse."""
    return f"Cnry {number:03d}\n%{secrets.token_hex(4)}é$"


def may_be_told(place: Place) -> bool:
    """Tell whether the value of a place is only a name."""
    return name_of(place).endswith(tuple(NAMES))


def embedded(store: Any = None, provisioners: Any = None) -> Bootstrapper:
    """Give a bootstrapper with everything in this process."""
    return Bootstrapper(
        provisioners or embedded_provisioners(), compiler(), version="0.0.0", store=store or PlaceholderStore()
    )


@asynccontextmanager
async def served(bootstrapper: Bootstrapper, metrics: CollectorRegistry) -> AsyncIterator[BootstrapServiceStub]:
    """Serve a bootstrapper over a real socket, measured and logged."""
    settings = ServerSettings(listen_address="127.0.0.1:0", insecure=True)
    service = Service.of(
        bootstrappb.DESCRIPTOR.services_by_name["BootstrapService"],
        add_BootstrapServiceServicer_to_server,
        BootstrapServicer(bootstrapper),
    )
    server = RpcServer(settings, [service], recorders=[PrometheusRecorder(metrics)])
    channels = ChannelPool(tls=None, trust_domain="slipway")
    await server.start()
    try:
        yield BootstrapServiceStub(channels.get(f"127.0.0.1:{server.port}"))
    finally:
        await channels.close()
        await server.stop(grace=0)


def shown(error: SlipwayError) -> bytes:
    """Give everything that an error says, in words and on the wire."""
    words = f"{error} {error.violations} {error.metadata} {error!r}"
    return words.encode() + error.to_status().SerializeToString()


async def test_no_value_is_told_by_an_error_a_log_or_a_metric(capsys: pytest.CaptureFixture[str]) -> None:
    """Each value in turn, over a real connection: statuses, answers without user data, logs and metrics are clean."""
    configure_logging(log_format="json", level="debug")
    metrics = CollectorRegistry()
    request = full_request()
    canaries, outcomes = [], set()
    async with served(embedded(), metrics) as stub:
        for number, place in enumerate(distinct(request)):
            for make in (fitting, unfitting):
                canary = make(number)
                asked = bootstrappb.GetUserDataRequest()
                asked.CopyFrom(request)
                put(asked, place, canary)
                try:
                    answer = redacted(await invoke(stub.GetUserData, asked, timeout=20))
                    told, outcome = answer.SerializeToString() + str(answer).encode(), "OK"
                except SlipwayError as error:
                    told, outcome = shown(error), error.reason
                outcomes.add(outcome)
                if not (make is fitting and may_be_told(place)):
                    assert not found(canary, told), f"{name_of(place)}: {outcome}"
                canaries.append(canary)
    assert {"OK", "SPEC_INVALID", "SECRET_MISSING"} <= outcomes
    logs, measured = capsys.readouterr().err, generate_latest(metrics)
    assert logs.count("\n") >= len(canaries)
    assert b'reason="SPEC_INVALID"' in measured
    assert [canary for canary in canaries if found(canary, logs) or found(canary, measured)] == []


async def test_explain_and_shown_bundles_hold_no_marked_value() -> None:
    """All canaries that a spec can hold at once: explain tells none, the bundle none of a field that is marked."""
    bootstrapper, request = embedded(), full_request()
    put_in: dict[str, Place] = {}
    for number, place in enumerate(distinct(request.subject)):
        canary = fitting(number)
        tried = bootstrappb.GetUserDataRequest()
        tried.CopyFrom(request)
        put(tried.subject, place, canary)
        if await _is_sound(bootstrapper, tried):
            put(request.subject, place, canary)
            put_in[canary] = place
    assert len(put_in) > 30
    async with served(bootstrapper, CollectorRegistry()) as stub:
        matrix = await invoke(stub.Explain, bootstrappb.ExplainRequest(subject=request.subject), timeout=30)
        assert [name_of(place) for canary, place in put_in.items() if found(canary, str(matrix))] == []
        marked = {canary: place for canary, place in put_in.items() if _is_marked(request.subject, place)}
        assert len(marked) > 10
        for lowered in (False, True):
            asked = bootstrappb.GetBundleRequest(subject=request.subject, lowered=lowered)
            bundle = await invoke(stub.GetBundle, asked, timeout=30)
            told = str(bundle) + str(bundle.SerializeToString())
            assert [name_of(place) for canary, place in marked.items() if found(canary, told)] == []
            assert f"<{len(next(iter(marked)))} bytes>" in told


async def _is_sound(bootstrapper: Bootstrapper, request: bootstrappb.GetUserDataRequest) -> bool:
    try:
        await bootstrapper.prepare(request.subject, request.credentials)
    except SlipwayError:
        return False
    return True


def _is_marked(message: Any, place: Place) -> bool:
    """Tell whether the field, or one around it, is marked as secret."""
    for name, index in place:
        if message.DESCRIPTOR.fields_by_name[name].GetOptions().debug_redact:
            return True
        message = getattr(message, name)
        message = message if index is None else message[index]
    return False


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


@pytest.mark.parametrize("role", ["cp-0", "worker-0"])
async def test_in_a_lowered_bundle_secrets_are_in_one_place(role: str) -> None:
    """The cluster's keys and tokens and the user's secrets are referred to, and never copied by engine or passes."""
    listener = Listener(embedded_provisioners())
    store = EphemeralStore(SecretFactory(entropy=SystemEntropy(), clock=utc_now))
    bootstrapper = embedded(store, listener)
    for provisioner in ("cloud-init", "ignition"):
        request = full_request(role)
        request.subject.spec.provisioner.name = provisioner
        for number, one in enumerate(request.credentials.secrets):
            one.value = fitting(number).encode()
        await bootstrapper.user_data(request)
    for bundle in listener.bundles:
        values = [one.value for one in bundle.secrets.secrets]
        assert len(values) >= 3
        assert {one.name for one in bundle.secrets.secrets} >= {"team-secrets"}
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
    for one in request.credentials.secrets:
        one.value = canary.encode()
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


KUBEADM_CONFIG = """
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfig
metadata: {name: pool}
spec:
  format: cloud-config
  files:
  - {path: /etc/a, owner: "root:root", permissions: "0600", content: text, encoding: ""}
  - {path: /etc/b, contentFrom: {secret: {name: s, key: k}}}
  users:
  - {name: ann, gecos: g, groups: sudo, passwd: hash, sudo: ALL, shell: /bin/sh, sshAuthorizedKeys: [ssh-rsa AAAA]}
  ntp: {servers: [ntp.example.com], enabled: true}
  mounts: [[LABEL=data, /data]]
  diskSetup: {filesystems: [{device: /dev/b, filesystem: ext4, label: data}]}
  preKubeadmCommands: [echo pre]
  postKubeadmCommands: [echo post]
  joinConfiguration:
    nodeRegistration:
      name: '{{ ds.meta_data.local_hostname }}'
      criSocket: /run/containerd/containerd.sock
      kubeletExtraArgs: {node-labels: a=b}
      taints: [{key: a, value: b, effect: NoSchedule}]
    discovery:
      bootstrapToken: {token: abcdef.0123456789abcdef, apiServerEndpoint: "a:6443", caCertHashes: ["sha256:aa"]}
      tlsBootstrapToken: abcdef.0123456789abcdef
"""


async def test_an_import_tells_no_value() -> None:
    """Whatever stands in a foreign document, errors and remarks name its place and not its text."""
    texts = _scalars(yaml.safe_load(KUBEADM_CONFIG))
    assert len(texts) > 30
    outcomes = set()
    async with served(embedded(), CollectorRegistry()) as stub:
        for number, way in enumerate(texts):
            for make in (fitting, unfitting):
                canary = make(number)
                document = yaml.safe_load(KUBEADM_CONFIG)
                _put(document, way, canary)
                asked = bootstrappb.ImportKubeadmConfigRequest(document=yaml.safe_dump(document).encode())
                try:
                    answer = await invoke(stub.ImportKubeadmConfig, asked, timeout=20)
                    told, outcome = str(answer.diagnostics).encode(), "OK"
                except SlipwayError as error:
                    told, outcome = shown(error), error.reason
                outcomes.add(outcome)
                assert not found(canary, told), f"{way}: {outcome}"
    assert {"OK", "IMPORT_INVALID"} <= outcomes


def _scalars(tree: Any, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    entries: Iterable[tuple[str | int, Any]] = ()
    if isinstance(tree, dict):
        entries = tree.items()
    elif isinstance(tree, list):
        entries = enumerate(tree)
    elif isinstance(tree, str) and above[0] not in {"kind", "apiVersion", "metadata"}:
        return [above]
    return [way for key, value in entries for way in _scalars(value, (*above, key))]


def _put(tree: Any, way: tuple[str | int, ...], value: str) -> None:
    for key in way[:-1]:
        tree = tree[key]
    tree[way[-1]] = value


@pytest.mark.parametrize(
    "encode",
    [
        str.encode,
        lambda text: base64.b64encode(b"ab" + text.encode() + b"c"),
        lambda text: base64.urlsafe_b64encode(b"abcd" + text.encode()),
        lambda text: text.encode().hex().upper().encode(),
        lambda text: urllib.request.quote(text).encode(),
        lambda text: repr([text]).encode(),
    ],
)
def test_a_canary_is_found_in_every_encoding(encode: Any) -> None:
    """All tests above can fail."""
    for canary in (fitting(1), unfitting(2)):
        assert found(canary, b"x" + encode(canary) + b"y")
        assert not found(canary, b"x" + encode(canary[::-1]) + b"y")


async def test_a_server_outside_a_management_cluster_knows_no_machines() -> None:
    """It says so, rather than that the subject is missing."""
    asked = bootstrappb.GetUserDataRequest()
    asked.machine_reference.namespace, asked.machine_reference.name = "ns", "m"
    async with served(embedded(), CollectorRegistry()) as stub:
        with pytest.raises(NoManagementCluster):
            await invoke(stub.GetUserData, asked, timeout=20)
