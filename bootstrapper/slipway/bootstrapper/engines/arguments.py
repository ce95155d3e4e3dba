"""Arguments of a program as a map, for engines whose documents hold each name once."""

from collections.abc import Iterable, Mapping

from slipway.bootstrapper.engines.documents.spliced import Text
from slipway.bootstrapper.engines.remarks import Remarks
from slipway.bootstrapper.engines.texts import machine_text
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb


def argument_map(
    remarks: Remarks,
    arguments: Iterable[kubernetespb.Argument],
    own: Mapping[str, Text],
    *,
    feature: str,
    path: str,
) -> dict[str, Text]:
    """Give the user's arguments and the engine's own by name; refuse a name that comes twice."""
    named: dict[str, Text] = {}
    for index, argument in enumerate(arguments):
        where = f"{path}[{index}]"
        if argument.name in own:
            remarks.refuse(
                feature,
                where,
                "sets an argument that another field of the spec sets too",
                remedy="remove one of the two",
            )
        elif argument.name in named:
            remarks.refuse(
                feature, where, "sets an argument that an earlier one sets too", remedy="write each argument once"
            )
        named[argument.name] = machine_text(argument)
    return {**named, **own}
