"""A bootstrap engine whose cluster makes the token by which machines join itself, in a Secret of its own."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from slipway.bootstrapper.credentials.cluster_secrets import CLUSTER_CA, authority
from slipway.bootstrapper.engines.engine import Engine, supports
from slipway.bootstrapper.engines.join_tokens import JoinTokens, Maker, Place, TokenRequest, Upkeep, Values
from slipway.bootstrapper.engines.k0s.features import FEATURES
from slipway.bootstrapper.engines.request import root_file
from slipway.bootstrapper.engines.result import EngineResult
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1.content_pb2 import SPLICE_ENCODING_RAW, Content, Segment

NAME = "skiff"
SERVER_TOKEN = "slipway.dev/server-token"
PLACE = Place("skiff-system", "server-token")
_TAKEN = (
    *("kubernetes.role", "kubernetes.version", "kubernetes.cluster", "kubernetes.credentials", "kubernetes.engine"),
    "kubernetes.node.taints",
)


class ServerToken(JoinTokens):
    """One token for all machines, which the first server has made; it never expires."""

    made_by = Maker.CLUSTER

    def secret(self, role: clusterpb.Role.ValueType) -> str:
        """Give the one secret."""
        del role
        return SERVER_TOKEN

    def place(self, request: TokenRequest) -> Place:
        """Give the one place."""
        del request
        return PLACE

    def text(self, request: TokenRequest, there: Values | None) -> str:
        """Give the token of agents, or of servers, where it has the form of one."""
        key = "agent" if request.role == clusterpb.ROLE_WORKER else "server"
        text = (there or {}).get(key, b"").decode(errors="replace")
        return text if text.startswith("K10") else ""

    def upkeep(self, request: TokenRequest, there: Values | None, *, now: datetime, ttl: timedelta) -> Upkeep:
        """Be asked never."""
        raise AssertionError("the cluster makes its token itself")

    def expiry(self, request: TokenRequest, there: Values | None) -> datetime | None:
        """Give no time."""
        return None


class SkiffEngine(Engine):
    """Writes the token into a file, and starts."""

    name = NAME
    version = "1"
    oldest, newest = (1, 27), (1, 36)
    os_families = (clusterpb.OS_FAMILY_LINUX,)
    features = supports(frozenset(entry for entry in FEATURES if entry.startswith(_TAKEN)))
    remedies: Mapping[str, str] = MappingProxyType({})
    join_tokens = ServerToken()

    def secrets(self, kubernetes: kubernetespb.Kubernetes) -> tuple[secretpb.SecretDeclaration, ...]:
        """Declare the authority and the token."""
        del kubernetes
        everywhere = ("ROLE_INIT", "ROLE_CONTROL_PLANE", "ROLE_WORKER")
        kind = secretpb.SECRET_KIND_RANDOM_BASE64_URL
        token = secretpb.SecretDeclaration(name=SERVER_TOKEN, kind=kind, full_roles=everywhere)
        return (
            authority(CLUSTER_CA, common_name="skiff", full_roles=everywhere[:1], public_roles=everywhere[1:]),
            token,
        )

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Give the file with the token, and the step."""
        del served
        taints = [f"--taint={taint.key}" for taint in bundle.intent.kubernetes.node.taints.items]
        command = planpb.Command(argv=["skiff", "agent", *taints])
        step = planpb.Step(id="20-skiff", phase=planpb.PHASE_BOOTSTRAP, command=command)
        return EngineResult(engine=self.name, files=tuple(_files(bundle)), steps=(step,))


def _files(bundle: bundlepb.BootstrapBundle) -> Iterator[ospb.File]:
    for reference in bundle.intent.credentials.declared:
        segment = Segment(secret_ref=reference, encoding=SPLICE_ENCODING_RAW)
        yield root_file("/etc/skiff/token", Content(segments=[segment]), mode=0o600, made_by=NAME)
