"""The systemd unit of k0s, and the words of its command line.

Source of the escapes: systemd.unit(5) on specifiers, systemd.service(5) on command lines.
"""

from collections.abc import Iterable, Iterator

from slipway.bootstrapper.engines.documents.spliced import Spliced, Text
from slipway.bootstrapper.engines.k0s.request import K0sRequest, root_file
from slipway.bootstrapper.engines.request import NODE
from slipway.bootstrapper.engines.texts import concatenated, document_content, joined, machine_text, text_pieces
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb

CONFIG = "/etc/k0s/k0s.yaml"
TOKEN = "/etc/k0s/token"  # noqa: S105  # the path of a token's file
_CONTAINERD = "unix:///run/containerd/containerd.sock"
_READABLE = 0o644
_BEFORE = """\
[Unit]
Description=k0s
Documentation=https://docs.k0sproject.io
After=network-online.target containerd.service
Wants=network-online.target

[Service]
ExecStart="""
_BEHIND = """
KillMode=process
Delegate=yes
TasksMax=infinity
LimitNOFILE=999999
LimitCORE=infinity
Restart=always
RestartSec=10

[Install]
WantedBy=multi-user.target
"""
_ARGUMENTS = "kubernetes.node.kubelet_arguments"
_FIELDS = {
    "hostname-override": "kubernetes.node.name",
    "provider-id": "kubernetes.node.provider_id",
    "node-ip": "kubernetes.node.node_ip",
}
"""Arguments of the kubelet that a field of the spec sets, with its feature."""
_CUT, _UNCUT = "has white space in it, at which k0s cuts arguments", "write it without"
_LABELS = "node-labels"
_EFFECTS = {
    kubernetespb.TAINT_EFFECT_NO_SCHEDULE: "NoSchedule",
    kubernetespb.TAINT_EFFECT_PREFER_NO_SCHEDULE: "PreferNoSchedule",
    kubernetespb.TAINT_EFFECT_NO_EXECUTE: "NoExecute",
}


def unit_name(request: K0sRequest) -> str:
    """Give the name that k0s itself has for its unit."""
    return "k0scontroller.service" if request.is_control_plane else "k0sworker.service"


def unit_file(request: K0sRequest) -> ospb.File:
    """Give the unit. It starts k0s again whenever it ends, as that of `k0s install` does."""
    command = concatenated((_quoted(word) for word in _command_line(request)), " ")
    text = concatenated((_BEFORE, command, _BEHIND), "")
    path = f"/etc/systemd/system/{unit_name(request)}"
    return root_file(path, document_content(text_pieces(text)), mode=_READABLE)


def _command_line(request: K0sRequest) -> Iterator[Text]:
    yield request.program
    if request.is_control_plane:
        yield from ("controller", f"--config={CONFIG}")
        if request.joins_control_plane:
            yield f"--token-file={TOKEN}"
        if request.is_node:
            yield "--enable-worker"
        disabled = [*request.options.disabled_components, *_disabled(request)]
        if disabled:
            yield f"--disable-components={','.join(dict.fromkeys(disabled))}"
    else:
        yield "worker"
    if request.is_node:
        yield from _node_words(request)


def _disabled(request: K0sRequest) -> Iterator[str]:
    if request.kubernetes.control_plane.dns.disabled:
        yield "coredns"


def _node_words(request: K0sRequest) -> Iterator[Text]:
    node = request.kubernetes.node
    if not request.options.own_container_runtime:
        yield f"--cri-socket=remote:{node.cri_socket or _CONTAINERD}"
    if request.options.worker_profile:
        yield f"--profile={request.options.worker_profile}"
    if request.is_control_plane and node.HasField("taints"):
        yield "--no-taints"
    if node.labels:
        yield f"--labels={','.join(f'{label.name}={label.value}' for label in node.labels)}"
    if node.taints.items:
        yield f"--taints={','.join(map(_taint, node.taints.items))}"
    arguments = list(_kubelet_arguments(request))
    if arguments:
        yield concatenated(("--kubelet-extra-args=", concatenated(arguments, " ")), "")


def _taint(taint: kubernetespb.Taint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{_EFFECTS.get(taint.effect, '')}"


def _kubelet_arguments(request: K0sRequest) -> Iterator[Text]:
    """Give the words of the kubelet. k0s cuts them at every space, and joins none of a name."""
    node, remarks = request.kubernetes.node, request.remarks
    path = f"{NODE}.kubelet_arguments"
    own: dict[str, Text] = {}
    if node.HasField("name"):
        own["hostname-override"] = machine_text(node.name)
    if node.HasField("provider_id"):
        own["provider-id"] = machine_text(node.provider_id)
    if node.HasField("node_ip"):
        own["node-ip"] = machine_text(node.node_ip)
    seen: set[str] = set()
    for index, argument in enumerate(node.kubelet_arguments):
        where, value = f"{path}[{index}]", machine_text(argument)
        if argument.name in own or argument.name in seen:
            what = "another field of the spec" if argument.name in own else "an earlier one"
            remarks.refuse(_ARGUMENTS, where, f"sets an argument that {what} sets too", remedy="remove one of the two")
        elif argument.name == _LABELS:
            remarks.refuse(
                _ARGUMENTS, where, "would take the place of k0s' own labels", remedy="set kubernetes.node.labels"
            )
        elif any(character.isspace() for character in _literal(value)):
            remarks.refuse(_ARGUMENTS, where, _CUT, remedy=_UNCUT)
        seen.add(argument.name)
        yield concatenated((f"--{argument.name}=", value), "")
    for name, value in own.items():
        if any(character.isspace() for character in _literal(value)):
            feature = _FIELDS[name]
            where = f"{NODE}.{feature.rpartition('.')[2]}"
            remarks.refuse(feature, where, _CUT, remedy=_UNCUT)
        yield concatenated((f"--{name}=", value), "")


def _literal(text: Text) -> str:
    return text if isinstance(text, str) else "".join(part for part in text.parts if isinstance(part, str))


def _quoted(word: Text) -> Text:
    """Give a word in quotes; backslashes, quotes, line ends, specifiers and variables lose their meaning.

    What a fact holds has none of them, by its grammar.
    """
    parts = word.parts if isinstance(word, Spliced) else (word,)
    return joined(['"', *(_escaped(part) if isinstance(part, str) else part for part in parts), '"'])


def _escaped(text: str) -> str:
    escapes: Iterable[tuple[str, str]] = (
        ("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("%", "%%"), ("$", "$$"),
    )  # fmt: skip
    for character, written in escapes:
        text = text.replace(character, written)
    return text
