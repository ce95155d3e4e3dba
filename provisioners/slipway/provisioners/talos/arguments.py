"""Arguments of Kubernetes' components that Talos sets by itself.

Talos' validator lets them pass, and then the component never starts on the machine; so they are refused here.
Source: the merge policies in internal/app/machined/pkg/controllers/k8s and the deny list of the etcd service;
they are the same from Talos 1.9 to 1.13.
"""

from collections.abc import Iterable

from slipway.sdk import RenderContext
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


DENIED: dict[str, frozenset[str]] = {
    # hostname-override is not denied by Talos, but then it cannot find its own Node and sets no label.
    "kubelet": _names("""bootstrap-kubeconfig kubeconfig container-runtime container-runtime-endpoint config
                         cert-dir hostname-override"""),
    "api_server": _names("""
        etcd-servers client-ca-file requestheader-client-ca-file proxy-client-cert-file proxy-client-key-file
        encryption-provider-config etcd-cafile etcd-certfile etcd-keyfile kubelet-client-certificate
        kubelet-client-key service-account-key-file service-account-signing-key-file tls-cert-file
        tls-private-key-file authorization-config
    """),
    "controller_manager": _names("""
        cluster-signing-cert-file cluster-signing-key-file authentication-kubeconfig authorization-kubeconfig
        root-ca-file service-account-private-key-file
    """),
    "scheduler": _names("kubeconfig authentication-kubeconfig authorization-kubeconfig config"),
    "etcd": _names("""
        name auto-tls peer-auto-tls data-dir listen-peer-urls listen-client-urls client-cert-auth cert-file
        key-file trusted-ca-file peer-client-cert-auth peer-cert-file peer-key-file peer-trusted-ca-file
        experimental-initial-corrupt-check experimental-watch-progress-notify-interval
        experimental-compact-hash-check-enabled initial-cluster-state
    """),
}
"""By component, the arguments that cannot be given."""


def arguments(
    entries: Iterable[kubernetespb.Argument], component: str, *, path: str, feature: str, ctx: RenderContext
) -> dict[str, str]:
    """Give the arguments by name. An argument that Talos sets, and one that is given twice, is refused.

    Talos holds arguments as a mapping, so of two with one name one would be lost.
    """
    result: dict[str, str] = {}
    for index, entry in enumerate(entries):
        where = f"{path}[{index}].name"
        if entry.name in DENIED[component]:
            ctx.refuse(where, feature, "is an argument that Talos sets by itself", remedy="leave the argument out")
        elif entry.name in result:
            why = "is given twice, and Talos takes an argument once"
            ctx.refuse(where, feature, why, remedy="give it once, with all values joined")
        result[entry.name] = entry.value or "".join(segment.text for segment in entry.segments)
    return result
