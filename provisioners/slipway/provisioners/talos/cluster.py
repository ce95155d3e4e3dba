"""The main document's cluster section: what all machines share, and what only control planes may know."""

from slipway.contract.errors import KubernetesVersionUnsupported, Violation
from slipway.provisioners.talos import material as secret
from slipway.provisioners.talos.control_plane import ControlPlane
from slipway.provisioners.talos.documents import Cluster, ClusterNetwork, Endpoint
from slipway.provisioners.talos.kubelet import schedules_everything
from slipway.provisioners.talos.material import CLUSTER_TOKEN, Material
from slipway.provisioners.talos.versions import TalosVersion
from slipway.rpc.addresses import joined
from slipway.sdk import RenderContext
from slipway.v1alpha1 import plan_pb2 as planpb

_DEFAULT_PORT = 6443
_DEFAULT_DOMAIN = "cluster.local"


def cluster(intent: planpb.Intent, material: Material, plane: ControlPlane | None) -> Cluster:
    """Give the cluster section. `plane` is None for a worker, which gets no private key of an authority."""
    facts = intent.cluster
    address = joined(facts.endpoint.host, facts.endpoint.port or _DEFAULT_PORT)
    result = Cluster(
        id=material.declared(secret.CLUSTER_ID),
        secret=material.declared(secret.CLUSTER_SECRET),
        control_plane=Endpoint(endpoint=f"https://{address}"),
        cluster_name=facts.name,
        network=ClusterNetwork(
            dns_domain=facts.service_domain or _DEFAULT_DOMAIN,
            pod_subnets=list(facts.pod_cidrs) or None,
            service_subnets=list(facts.service_cidrs) or None,
        ),
        token=material.declared(CLUSTER_TOKEN, "token"),
        ca=material.pair("cluster_ca", private=plane is not None),
    )
    if plane is not None:
        _add_control_plane(result, intent, material, plane)
    return result


def image_tag(intent: planpb.Intent, version: TalosVersion, ctx: RenderContext) -> str:
    """Give the tag of Kubernetes' images.

    Raises:
        KubernetesVersionUnsupported: this version of Talos does not run it.
    """
    text = intent.kubernetes_version or intent.cluster.kubernetes_version
    major, minor, *_ = text.removeprefix("v").split(".")
    if major != "1" or not version.oldest_kubernetes <= int(minor) <= version.newest_kubernetes:
        raise KubernetesVersionUnsupported(
            f"{ctx.format.format} does not run this version of Kubernetes",
            violations=[
                Violation(
                    "intent.kubernetes_version",
                    "is not one that this version of Talos runs",
                    remedy=f"choose v1.{version.oldest_kubernetes} to v1.{version.newest_kubernetes}, "
                    "or the format of another Talos",
                )
            ],
            metadata={
                "lowest": f"v1.{version.oldest_kubernetes}",
                "highest": f"v1.{version.newest_kubernetes}",
            },
        )
    return "v" + text.removeprefix("v").replace("+", "_")


def _add_control_plane(result: Cluster, intent: planpb.Intent, material: Material, plane: ControlPlane) -> None:
    spec = intent.kubernetes.control_plane
    result.control_plane.local_api_server_port = spec.bind_port if spec.HasField("bind_port") else None
    result.secretbox_encryption_secret = material.declared(secret.SECRETBOX)
    result.aggregator_ca = material.pair("front_proxy_ca", private=True)
    result.service_account = material.key("service_account")
    result.api_server = plane.api_server(intent.cluster.endpoint.host.strip("[]"))
    result.controller_manager = plane.component("controller_manager", spec.controller_manager)
    result.scheduler = plane.component("scheduler", spec.scheduler)
    result.proxy = plane.proxy()
    result.core_dns = plane.dns()
    result.etcd = plane.etcd(material.pair("etcd_ca", private=True))
    result.allow_scheduling_on_control_planes = schedules_everything(intent.kubernetes.node)
