"""Arguments of components: lists of name and value, whose conflicts are found before kubeadm sees them."""

from collections import Counter
from collections.abc import Container, Sequence

from slipway.bootstrapper.engines.kubeadm.documents.v1beta4 import Arg
from slipway.bootstrapper.engines.kubeadm.kubeadm_api import KubeadmApi
from slipway.bootstrapper.engines.kubeadm.request import EngineRequest
from slipway.bootstrapper.engines.remarks import Remarks
from slipway.bootstrapper.engines.texts import machine_text
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb


def user_arguments(
    request: EngineRequest, arguments: Sequence[kubernetespb.Argument], *, feature: str, path: str
) -> list[Arg]:
    """Give the user's arguments in their order. v1beta3 holds each name once: more is left out or refused."""
    given = [Arg(name=argument.name, value=machine_text(argument)) for argument in arguments]
    if request.api is KubeadmApi.V1BETA3:
        counts = Counter(argument.name for argument in given)
        for index, argument in enumerate(given):
            counts[argument.name] -= 1
            if counts[argument.name] > 0:
                request.remarks.drop(
                    feature,
                    f"{path}[{index}]",
                    "kubeadm of this Kubernetes version takes each argument once, and it comes again later",
                    remedy="write each argument once",
                )
    return given


def refuse_doubled(remarks: Remarks, arguments: Sequence[Arg], own: Container[str], *, feature: str, path: str) -> None:
    """Refuse arguments of the user's that the engine sets from another field of the spec."""
    for index, argument in enumerate(arguments):
        if argument.name in own:
            remarks.refuse(
                feature,
                f"{path}[{index}]",
                "sets an argument that another field of the spec sets too",
                remedy="remove one of the two",
            )
