"""The host name and the name of the Node, which on Talos are one thing."""

from dataclasses import dataclass

from slipway.sdk import RenderContext
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb

_NAMED_BY_PLATFORM = frozenset({"aws", "azure", "cloudstack", "gcp", "openstack", "vsphere"})
"""Infrastructures of which Talos takes the host name by itself. Source: platform/*/metadata.go of Talos."""

_HOST_FACTS = frozenset({contentpb.FACT_KIND_HOSTNAME, contentpb.FACT_KIND_LOCAL_HOSTNAME})
FACT_FEATURES = ("hostname", "local_hostname")
"""Facts that a name may be, as the last parts of their features."""


@dataclass(frozen=True, slots=True)
class Names:
    """What the machine is called.

    Attributes:
        hostname: the host name, or None when the platform, or Talos, gives one.
        with_domain: the Node is called by the full name, domain included.
    """

    hostname: str | None
    with_domain: bool | None


def names(bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> Names:
    """Give the machine's names. Two that differ, and facts that Talos does not know, are refused."""
    node_registration = bundle.intent.kubernetes.node
    host = _text(bundle.os.hostname.name) if bundle.os.HasField("hostname") else None
    node = _text(node_registration.name) if node_registration.HasField("name") else None
    places = (
        (host, "os.hostname.name", "os.hostname"),
        (node, "intent.kubernetes.node.name", "kubernetes.node.name"),
    )
    for name, path, feature in places:
        if name == "":
            ctx.refuse(
                path,
                f"{feature}.facts",
                "must be a text or one fact; Talos cannot join parts",
                remedy="write the name, or the fact Hostname alone",
            )
        elif isinstance(name, int) and (name not in _HOST_FACTS or target.infrastructure not in _NAMED_BY_PLATFORM):
            ctx.refuse(
                path,
                f"{feature}.facts",
                "is a fact that Talos cannot name this machine by on its infrastructure",
                remedy="write the name itself, or leave it to the infrastructure",
            )
    if None not in (host, node) and host != node:
        why = "differs from os.hostname.name, and on Talos they are one"
        ctx.refuse(places[1][1], places[1][2], why, remedy="leave one of them out")
    name = node if host is None else host
    if isinstance(name, str):
        return Names(name, with_domain=True if "." in name else None)
    return Names(None, with_domain=None if name is None else True)


def literal(text: contentpb.MachineText) -> str:
    """Give a text of which the format declares no part that only the machine knows."""
    return text.value or "".join(segment.text for segment in text.segments)


def _text(text: contentpb.MachineText) -> str | int:
    """Give the text, the kind of the one fact that it is, or "" for a mixture."""
    if text.HasField("value"):
        return text.value
    if any(segment.WhichOneof("value") != "text" for segment in text.segments):
        only = text.segments[0]
        return only.fact.kind if len(text.segments) == 1 and only.HasField("fact") else ""
    return literal(text)
