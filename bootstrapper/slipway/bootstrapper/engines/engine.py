"""What every bootstrap engine is, so that the bootstrapper needs to know none of them by name."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from slipway.bootstrapper.engines.join_tokens import JoinTokens
from slipway.bootstrapper.engines.result import EngineResult
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb


class Engine(ABC):
    """A bootstrap engine: a pure function of intent, target and credentials, and what it declares about itself.

    Attributes:
        name: its name, e.g. "kubeadm"; also the family of control plane that it makes.
        version: its version.
        oldest: oldest minor version of Kubernetes that it serves.
        newest: newest minor version that was there when it was written; of later ones people are warned.
        os_families: families of operating systems on which it makes nodes.
        distributions: Linux distributions on which it does, each as ID in os-release; none for all of them.
        unserved: by Linux distribution on which it does not, why.
        features: features of `kubernetes.*` and `engine_options.*` that it takes.
        remedies: by feature that it does not take, what to do in its place where that is more than to leave it out.
        join_tokens: the mechanism of the tokens by which machines join.
        plans_by_class: the plan depends neither on the machine's name and uid nor on the id and the secrets of the
            bundle. It is then asked for once for all machines that differ in nothing else, of a bundle without these.
        own_minor_only: whether a machine joins only a control plane of its own minor version of Kubernetes.
    """

    name: str
    version: str
    oldest: tuple[int, int]
    newest: tuple[int, int]
    os_families: Sequence[clusterpb.OsFamily.ValueType]
    features: Sequence[provisionerpb.FeatureSupport]
    remedies: Mapping[str, str]
    join_tokens: JoinTokens
    distributions: Collection[str] = ()
    unserved: Mapping[str, str] = MappingProxyType({})
    plans_by_class: bool = False
    own_minor_only: bool = False

    @abstractmethod
    def secrets(self, kubernetes: kubernetespb.Kubernetes) -> Sequence[secretpb.SecretDeclaration]:
        """Declare the cluster's secrets that its machines need; which of them a machine gets is a matter of its role.

        A secret is made once per cluster, by its kind. `kubernetes` is what the spec says: what it leaves to others is
        not declared.
        """

    def program_version(self, options: specpb.EngineOptions) -> str:  # noqa: ARG002  # of those that override it
        """Give the version of the engine's program that a spec states for the image, "" where it states none.

        None is the usual case: the program has the machine's version of Kubernetes. The field is
        `engine_options.NAME.version`.
        """
        return ""

    def add_arguments(  # noqa: B027  # most engines have nothing to add
        self, options: specpb.EngineOptions, arguments: Mapping[str, Sequence[tuple[str, str]]]
    ) -> None:
        """Have a control plane that joins give components arguments that those of the first machine may lack.

        Nothing is to be done where each machine configures the components itself, from its spec.

        Args:
            options: of the machine; changed.
            arguments: name and value, by program such as "kube-apiserver" or "etcd".
        """

    @abstractmethod
    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Give the plan for a neutral bundle, or every reason why there can be none. Its credentials are references.

        `served` is what the format declares by which the plan reaches the machine. Few engines need anything of it:
        what the format does not take is lowered.

        Raises:
            SlipwayError: UnsupportedTarget or KubernetesVersionUnsupported.
        """


def supports(features: frozenset[str]) -> tuple[provisionerpb.FeatureSupport, ...]:
    """Declare features that are taken without bounds."""
    return tuple(provisionerpb.FeatureSupport(id=feature) for feature in sorted(features))
