"""The suite's smallest requests, one for each form of the Kubernetes part, and what is merged into them."""

from collections.abc import Iterable, Iterator

from google.protobuf.message import Message

from slipway.conformance import credentials
from slipway.conformance.v1alpha1 import case_pb2 as casepb
from slipway.contract.features import compute_features
from slipway.contract.field_plans import plan
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb

PLAN, INTENT = provisionerpb.KUBERNETES_INPUT_PLAN, provisionerpb.KUBERNETES_INPUT_INTENT
FOLDER = "/var/lib/conformance"
VERSIONS = ("v1.34.2", "v1.33.5", "v1.32.9", "v1.31.13", "v1.30.14", "v1.29.15", "v1.28.15")
"""Kubernetes versions that are tried with a format that takes intents, until one is taken."""


def smallest(info: provisionerpb.FormatInfo, *, version: str = VERSIONS[0]) -> provisionerpb.RenderRequest:
    """Give the smallest request of the format's core profile, with its features computed."""
    request = provisionerpb.RenderRequest(
        request_tag="conformance", format=info.format, target=target(info), accept_attachments=True
    )
    request.bundle.id = "conformance-1"
    if info.kubernetes_input == INTENT:
        _join(request.bundle, info, version)
    else:
        request.bundle.machine.name = "worker-1"
        request.bundle.machine.role = clusterpb.ROLE_WORKER
        request.bundle.os.files.append(file("run", b"#!/bin/sh\nexit 0\n", mode=0o700))
        request.bundle.plan.entrypoint.unit_name = "slipway-bootstrap.service"
        request.bundle.plan.entrypoint.argv.extend(_program(info))
    place(request.bundle, info)
    compute_features(request.bundle)
    return request


def target(info: provisionerpb.FormatInfo) -> clusterpb.Target:
    """Give the format's default target, its family filled in."""
    found = clusterpb.Target()
    found.CopyFrom(info.default_target)
    if not found.os_family and info.os_families:
        found.os_family = info.os_families[0]
    return found


def merged(
    request: provisionerpb.RenderRequest, bundle: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo
) -> provisionerpb.RenderRequest:
    """Give a copy of a request with a bundle merged into it; features are computed anew."""
    made = provisionerpb.RenderRequest()
    made.CopyFrom(request)
    placed = bundlepb.BootstrapBundle()
    placed.CopyFrom(bundle)
    place(placed, info)
    made.bundle.MergeFrom(placed)
    if made.bundle.intent.role != request.bundle.intent.role:
        credentials.given(made.bundle, info)
    credentials.put_in_order(made.bundle)
    compute_features(made.bundle)
    return made


def file(name: str, data: bytes, *, mode: int = 0o644, owner: str = "root", group: str = "root") -> ospb.File:
    """Make a file of literal bytes below the suite's own folder."""
    content = contentpb.Content(segments=[contentpb.Segment(data=data)] if data else [])
    return ospb.File(path=f"{FOLDER}/{name}", content=content, mode=mode, owner=owner, group=group)


def files(*found: ospb.File, secrets: Iterable[secretpb.Secret] = ()) -> bundlepb.BootstrapBundle:
    """Make a bundle of files, to be merged into another."""
    return bundlepb.BootstrapBundle(
        os=ospb.OperatingSystem(files=found), secrets=secretpb.SecretMaterial(secrets=secrets)
    )


def secret(name: str, key: str, value: bytes) -> secretpb.Secret:
    """Make a user's secret."""
    return secretpb.Secret(name=name, key=key, kind=secretpb.SECRET_KIND_OPAQUE, value=value)


def is_windows(info: provisionerpb.FormatInfo) -> bool:
    """Whether the requests for a format are for Windows."""
    return target(info).os_family == clusterpb.OS_FAMILY_WINDOWS


def place(bundle: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo) -> None:
    """Move what lies in the suite's folder to where the format takes files, and to a drive on Windows."""
    prefixes = next((list(feature.path_prefixes) for feature in info.features if feature.id == "os.files"), [])
    folder = FOLDER
    if prefixes and not any(_below(FOLDER, prefix) for prefix in prefixes):
        folder = prefixes[0].rstrip("/") + "/conformance"
    for holder, name in _paths(bundle):
        path = getattr(holder, name)
        path = folder + path.removeprefix(FOLDER) if _below(path, FOLDER) else path
        setattr(holder, name, f"C:{path}" if is_windows(info) and path.startswith("/") else path)


def ask_for_strange(request: provisionerpb.RenderRequest, count: int, *, field: str = "unheard_of") -> list[str]:
    """Add so many features to the list that nobody knows, each at a path of its own, and give their ids, sorted."""
    ids = [f"ext.conformance.example.com/unheard-of-{number:03}" for number in range(count)]
    for number, id_ in enumerate(ids):
        request.bundle.required_features.add(id=id_, paths=[f"os.{field}[{number}]"], count=1)
    return ids


def cleared(request: provisionerpb.RenderRequest, paths: Iterable[str]) -> None:
    """Clear fields by their paths, e.g. "bundle.os.files[0].mode".

    Raises:
        ValueError: there is no such field.
    """
    for path in paths:
        *above, last = path.split(".")
        holder: Message = request
        for part in above:
            name, _, index = part.partition("[")
            value = getattr(holder, name)
            holder = value[int(index.rstrip("]"))] if index else value
        holder.ClearField(last)


def _paths(message: Message) -> Iterator[tuple[Message, str]]:
    plans = plan(message.DESCRIPTOR)
    for descriptor, value in message.ListFields():
        found = plans[descriptor.number]
        if found.rules.format == "absolute-path" and not found.repeated:
            yield message, found.name
        elif found.message is not None:
            for entry in value if found.repeated else [value]:
                yield from _paths(entry)


def _below(path: str, folder: str) -> bool:
    return path == folder.rstrip("/") or path.startswith(folder.rstrip("/") + "/")


def _program(info: provisionerpb.FormatInfo) -> list[str]:
    if is_windows(info):
        return ["powershell.exe", "-File", f"C:{FOLDER}/run", 'two "words"']
    return ["/bin/sh", f"{FOLDER}/run", "two words", "it's", '"quoted"', "$HOME", "100%"]


def _join(bundle: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo, version: str) -> None:
    """Make the bundle of a worker that joins: the core profile INTENT."""
    intent = bundle.intent
    intent.role = clusterpb.ROLE_WORKER
    intent.kubernetes_version = version
    intent.cluster.name = "conformance"
    intent.cluster.endpoint.host = "api.conformance.example.com"
    intent.cluster.endpoint.port = 6443
    # The control plane is upgraded first, so that the two seldom stay the same for long.
    intent.cluster.kubernetes_version = _next_patch(version)
    node = intent.kubernetes.node
    node.name.value = "worker-1"
    node.labels.append(kubernetespb.Label(name="example.com/pool", value="conformance"))
    node.taints.items.append(
        kubernetespb.Taint(key="example.com/dedicated", value="tests", effect=kubernetespb.TAINT_EFFECT_NO_SCHEDULE)
    )
    credentials.given(bundle, info)


def _next_patch(version: str) -> str:
    minor, _, patch = version.rpartition(".")
    return f"{minor}.{int(patch) + 1}"


def applies(case: casepb.Case, info: provisionerpb.FormatInfo) -> bool:
    """Whether a case is for a format."""
    if case.input not in (provisionerpb.KUBERNETES_INPUT_UNSPECIFIED, info.kubernetes_input):
        return False
    return case.os_family in (clusterpb.OS_FAMILY_UNSPECIFIED, target(info).os_family)
