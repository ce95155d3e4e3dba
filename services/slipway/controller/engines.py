"""Which bootstrap engine a machine of a Cluster gets, and the mechanism of the tokens by which it joins.

Where a Cluster refers to a control plane, that one's kind says which engine it has. Where it does not, the data Secrets
of its control-plane Machines do: each names by what its machine is bootstrapped. No machine joins by a guess: where
neither is known, as of a control plane of an unknown kind, the spec has to name the engine.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from slipway.bootstrapper.assembly.overrides import effective_spec
from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.engines.join_tokens import JoinTokens
from slipway.bootstrapper.engines.table import SPEC_FIELD
from slipway.bootstrapper.importers.cluster_api.families import family_of_config
from slipway.bootstrapper.provisioning.wish import Wish
from slipway.bootstrapper.target import stated
from slipway.contract.errors import SlipwayError
from slipway.controller.cluster_object import ClusterObject
from slipway.controller.data_secret import Record
from slipway.controller.facts import Facts
from slipway.controller.halt import Halt, of_contract
from slipway.controller.owner import Owner
from slipway.controller.reasons import Reason
from slipway.kubernetes_api.objects import Lookup
from slipway.kubernetes_api.resources import KUBEADM_CONFIGS, Json
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

MachinesOf = Callable[[ClusterObject], Iterable[Json]]
"""Gives the Machines of a Cluster."""

_FAMILY = "kubernetes.cluster.control_plane"
_UNKNOWN = (
    "spec.kubernetes.engine: is required: the Cluster refers to no control plane, and the data Secrets of its "
    "control-plane Machines do not name one bootstrap engine (write the name of the control plane's engine)"
)
_UNKNOWN_KIND = (
    "spec.kubernetes.engine: is required: it is not known which bootstrap engine the control plane of the Cluster has, "
    "a {kind} (write the engine's name)"
)


@dataclass(frozen=True, slots=True)
class Engines:
    """Chooses engines.

    Attributes:
        bootstrapper: has the table of engines, and knows which format takes a plan of theirs.
        machines: the Machines of a Cluster.
        secrets: the local copy of Secrets' metadata.
    """

    bootstrapper: Bootstrapper
    machines: MachinesOf
    secrets: Lookup

    def choose(self, facts: Facts, cluster: ClusterObject, subject: bootstrappb.Subject) -> str:
        """Give what a machine is bootstrapped by, and put into the subject what its control plane was.

        "" stands for a format that bootstraps by itself and does not say which control planes it joins.

        Raises:
            Halt: the machine joins, neither its spec nor the cluster says by which engine, and its format needs one.
            SlipwayError: no provisioner can be chosen, or the engine is not installed.
        """
        role, spec = subject.machine.role, subject.spec
        joins, reference = role != clusterpb.ROLE_INIT, cluster.control_plane_reference
        family = self.of_machines(cluster) if joins and reference is None else ""
        if family:
            subject.cluster.control_plane = family
        candidate = self.bootstrapper.choose(Wish.of(spec, stated(spec.target, subject.machine.target)))
        if not candidate.takes_plan:
            return _own_family(candidate.format)
        kubernetes = effective_spec(spec, role).kubernetes
        named = kubernetes.HasField("engine") or facts.resource is KUBEADM_CONFIGS
        if joins and not named and not (family or cluster.control_plane_family):
            unknown = _UNKNOWN if reference is None else _UNKNOWN_KIND.format(kind=reference.get("kind") or "(no kind)")
            raise Halt(Reason.ENGINE_UNKNOWN, unknown)
        return self.bootstrapper.compiler.engines.choose(kubernetes, subject.cluster, field=SPEC_FIELD).name

    def of_machines(self, cluster: ClusterObject) -> str:
        """Give what all control-plane Machines of a Cluster are bootstrapped by, "" where that is not one thing."""
        owners = [owner for owner in map(Owner, self.machines(cluster)) if owner.is_control_plane]
        families = {self._family(cluster.namespace, owner) for owner in owners} - {""}
        return families.pop() if len(families) == 1 else ""

    def join_tokens(self, facts: Facts, cluster: ClusterObject, *, engine: str) -> JoinTokens:
        """Give the mechanism of the tokens by which a machine joins, by the `engine` that its data Secret names.

        Raises:
            Halt: the Secret names none, and the spec one that is not installed.
        """
        table = self.bootstrapper.compiler.engines
        kubernetes = kubernetespb.Kubernetes()
        if facts.engine and engine not in table.names:
            kubernetes.engine = facts.engine
        known = clusterpb.Cluster(control_plane=engine or cluster.control_plane_family)
        try:
            return table.choose(kubernetes, known, field=SPEC_FIELD).join_tokens
        except SlipwayError as error:
            raise of_contract(error) from None

    def _family(self, namespace: str, owner: Owner) -> str:
        """Give what a machine is bootstrapped by, "" as long as it has no user data."""
        secret = self.secrets.get(namespace, owner.data_secret_name or owner.config_name)
        record = Record.of_secret(secret) if secret is not None else None
        if record is not None:
            return record.engine
        return family_of_config(owner.config_kind) if owner.data_secret_name else ""


def _own_family(info: provisionerpb.FormatInfo) -> str:
    """Give the family of control planes that a format declares, where there is but one."""
    declared = [support for support in info.features if support.id == _FAMILY]
    values = list(declared[0].allowed_values) if declared else []
    return values[0] if len(values) == 1 else ""
