"""Brings a bundle's contents and texts into the form that the contract promises, so that each has one spelling only.

A content is segments, whose literals are bytes. A text is a value whenever all of it is known now.
"""

from google.protobuf.message import Message

from slipway.contract.content import normal_segments
from slipway.contract.field_plans import plan
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb


def normalise(message: Message) -> None:
    """Rewrite every Content, MachineText and Argument in `message`, in place."""
    plans = plan(message.DESCRIPTOR)
    for descriptor, value in message.ListFields():
        field = plans[descriptor.number]
        if field.message is None:
            continue
        for entry in value if field.repeated else [value]:
            if isinstance(entry, contentpb.Content):
                segments = normal_segments(entry)
                entry.Clear()
                entry.SetInParent()
                entry.segments.extend(segments)
            elif isinstance(entry, contentpb.MachineText | kubernetespb.Argument):
                _join(entry)
            else:
                normalise(entry)


def _join(text: contentpb.MachineText | kubernetespb.Argument) -> None:
    """Make one value of segments that are all literal: a reader of `value` alone must not lose them."""
    if text.segments and all(segment.WhichOneof("value") == "text" for segment in text.segments):
        text.value = "".join(segment.text for segment in text.segments)
        text.ClearField("segments")
