"""Swap that is switched on for a kubelet that does not start with it.

The kubelet ends where it finds swap, unless failSwapOn is false (its field, or the flag fail-swap-on); kubeadm leaves
the field at its default. Source: k8s.io/kubelet/config/v1beta1, KubeletConfiguration.failSwapOn.
"""

from collections.abc import Iterator

from slipway.bootstrapper.engines.kubeadm.patches import kubelet_settings
from slipway.bootstrapper.engines.kubeadm.request import EngineRequest
from slipway.v1alpha1 import os_pb2 as ospb

_FLAG = "fail-swap-on"
_PATCHED = "kubeletconfiguration"


def check_swap(request: EngineRequest, os: ospb.OperatingSystem) -> None:
    """Reject swap of the spec's own with which the kubelet does not start."""
    if _is_tolerated(request):
        return
    for feature, path in _swaps(os):
        request.remarks.reject(
            feature,
            path,
            "is swap, with which the kubelet does not start",
            remedy="set failSwapOn: false in kubernetes.node.kubeletConfiguration, or remove the swap",
        )


def _is_tolerated(request: EngineRequest) -> bool:
    """Report whether the kubelet may start with swap, as far as the spec says."""
    flags = [flag for flag in request.kubernetes.node.kubelet_arguments if flag.name.replace("_", "-") == _FLAG]
    if flags:
        return bool(flags[-1].segments) or flags[-1].value in {"false", "False", "FALSE", "f", "F", "0"}
    options = request.options
    if options.patches_directory or any(patch.name.startswith(_PATCHED) for patch in options.patches):
        return True
    return kubelet_settings(request).get("failSwapOn") is False


def _swaps(os: ospb.OperatingSystem) -> Iterator[tuple[str, str]]:
    yield from (("os.storage.swap", f"os.swaps[{index}]") for index in range(len(os.swaps)))
    for index, mount in enumerate(os.mounts):
        if mount.type == "swap":
            yield "os.storage.mounts", f"os.mounts[{index}]"
