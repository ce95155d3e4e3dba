"""slipway import."""

import asyncio
import base64
import json
import re
from collections.abc import Iterable
from itertools import count
from typing import Any

import click

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.documents.native import API_VERSION, CLUSTER, metadata, write_config
from slipway.bootstrapper.placeholders import PLACEHOLDER
from slipway.cli.connecting import connected
from slipway.cli.failures import reported
from slipway.cli.leaving_out import leave_out
from slipway.cli.loading import Loaded, load
from slipway.cli.options import (
    Connection,
    connection_from,
    connection_options,
    file_options,
    inputs_from,
    variable_options,
)
from slipway.cli.output import OUTPUTS, note, say, show, table
from slipway.cli.remarks import note_files, note_questions
from slipway.cli.rendering import role_name
from slipway.contract.source_position import path_text
from slipway.contract.yaml_encode import dump, encode
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_SUBSTITUTED = re.compile(r"\$(?=[${])")
"""A dollar sign that a program which replaces variables would not take for text; doubled, it is text."""

_LONE_KINDS = frozenset({"KubeadmConfig", "KubeadmConfigTemplate"})


@click.command("import", short_help="Turn KubeadmConfigs into SlipwayConfigs.")
@file_options
@variable_options
@click.option("--show-secrets", is_flag=True, help="Write secrets that the file holds; else they are left out.")
@click.option(
    "-o", "--output", type=click.Choice(OUTPUTS), default="yaml", show_default=True,
    help="How to print it; table lists the machines only.",
)  # fmt: skip
@connection_options
@reported
def import_(show_secrets: bool, output: str, **values: Any) -> None:  # noqa: FBT001  # click gives options by name
    """Print the native documents for a Cluster API manifest: a SlipwayCluster and a SlipwayConfig for every machine.

    A single KubeadmConfig or KubeadmConfigTemplate becomes a single SlipwayConfig; with --server the server does that.

    The machines behave as today: what the kubeadm provider does when a command fails, and where it puts its files, is
    kept until you remove `spec.execution`. The annotation bootstrap.slipway.dev/imported-format names the format that
    they get unless you choose another. `spec.optionalFeatures` names what only some formats have, and what the others
    leave out with a warning. Remarks on what is understood differently go to standard error.

    Passwords, tokens and URLs that carry credentials are left out unless --show-secrets is given: {hidden: 22 bytes}
    replaces them, which every command refuses to read, and Secrets that a machine refers to are not printed.
    All else is printed as it stands, also what files, scripts, commands and arguments hold.

    What is printed is a template again, as what was read: ${ stands as $${ in it. With --no-substitution neither is.

    \b
    Examples:
      slipway import cluster.yaml --set-missing > spec.yaml
      slipway import config.yaml --show-secrets

    \b
    Exit codes:
      0  everything was carried over, with diagnostics
      1  something cannot be carried over; it is named with file, line, column and field path
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    inputs = inputs_from(values)
    loaded = load(inputs)
    lone = asyncio.run(_by_backend(loaded, connection_from(values)))
    note_files(loaded)
    note_questions(loaded)
    if output == "table":
        columns = ("machine", "role", "config", "kubernetes", "infrastructure")
        show(table("", columns, [_row(question) for question in loaded.questions]))
        return
    documents, hidden = _documents(loaded.questions, show_secrets=show_secrets, with_clusters=not lone)
    if hidden:
        message = "secrets were left out, so that no command reads it as it is; --show-secrets writes them"
        note(f"{message}: {', '.join(hidden)}", "warning")
    secrets = secret_documents(loaded.questions)
    if show_secrets:
        documents += secrets
    elif secrets:
        message = "Secrets of the files were not written: give them beside the spec, or use --show-secrets"
        note(f"{message}: {', '.join(secret['metadata']['name'] for secret in secrets)}", "note")
    as_json = output == "json"
    text = json.dumps(documents, indent=2, ensure_ascii=False) if as_json else dump(*documents).rstrip("\n")
    say(_SUBSTITUTED.sub("$$", text) if inputs.substitute else text)


async def _by_backend(loaded: Loaded, connection: Connection) -> bool:
    """Have a lone config carried over by the chosen backend, and return whether there is one."""
    kinds = [question.standing.config.partition("/")[0] for question in loaded.questions]
    async with connected(connection, dry=True) as backend:
        if not loaded.lone or kinds[0] not in _LONE_KINDS:
            return False
        question = loaded.questions[0]
        request = bootstrappb.ImportKubeadmConfigRequest(
            document=loaded.lone.encode(), control_plane_version=question.subject.cluster.kubernetes_version
        )
        answer = await backend.import_config(request)
    question.subject.spec.CopyFrom(answer.spec)
    question.diagnostics[:] = answer.diagnostics
    return True


def _row(question: MachineQuestion) -> list[str]:
    machine, cluster = question.subject.machine, question.subject.cluster
    version = machine.kubernetes_version or cluster.kubernetes_version
    return [machine.name, role_name(machine.role), question.standing.config, version, machine.target.infrastructure]


def _documents(
    questions: list[MachineQuestion], *, show_secrets: bool, with_clusters: bool
) -> tuple[list[dict[str, Any]], list[str]]:
    """Give a cluster for each that is named and a config for each that differs, and the secrets that they lack."""
    configs: dict[tuple[str, bytes], tuple[str, MachineQuestion]] = {}
    clusters: dict[tuple[str, bytes], clusterpb.SlipwayClusterSpec] = {}
    for question in questions:
        key = question.standing.namespace, question.subject.spec.SerializeToString(deterministic=True)
        name = configs.setdefault(key, (question.name, question))[0]
        cluster = question.subject.cluster
        # Machines of one cluster may know it by different endpoints: what they say together stands in one document.
        place = question.standing.namespace, cluster.SerializeToString(deterministic=True)
        spec = clusters.setdefault(place, clusterpb.SlipwayClusterSpec(cluster=cluster))
        machine = question.subject.machine
        entry = spec.machines.add(name=machine.name, role=machine.role, config=name)
        if machine.kubernetes_version and machine.kubernetes_version != cluster.kubernetes_version:
            entry.kubernetes_version = machine.kubernetes_version
        if machine.target.ListFields():
            entry.target.CopyFrom(machine.target)
    own = {(namespace, spec.cluster.name) for (namespace, _), spec in clusters.items()}
    heads_seen: set[tuple[str, str]] = set()
    heads: list[dict[str, Any]] = []
    for (namespace, _), spec in clusters.items() if with_clusters else ():
        name = spec.cluster.name
        if (namespace, name) in heads_seen:
            further = (f"{name}-{number}" for number in count(2))
            name = next(candidate for candidate in further if (namespace, candidate) not in own | heads_seen)
        heads_seen.add((namespace, name))
        head = metadata(name, namespace)
        heads.append({"apiVersion": API_VERSION, "kind": CLUSTER, "metadata": head, "spec": encode(spec)})
    bodies: list[dict[str, Any]] = []
    hidden: list[str] = []
    for name, question in configs.values():
        body = write_config(name, question.subject.spec, namespace=question.standing.namespace)
        bodies.append(body)
        if not show_secrets:
            paths = leave_out(body["spec"], question.subject.spec, ("spec",))
            hidden += [f"{body['kind']}/{name}: {path_text(path)}" for path in paths]
    return heads + bodies, hidden


def secret_documents(questions: Iterable[MachineQuestion]) -> list[dict[str, Any]]:
    """Give a Secret for each that the files have, with the keys that machines refer to; placeholders are none."""
    data: dict[tuple[str, str], dict[str, str]] = {}
    for question in questions:
        for secret in question.secrets.secrets:
            if secret.value != PLACEHOLDER:
                value = base64.b64encode(secret.value).decode()
                data.setdefault((question.standing.namespace, secret.name), {})[secret.key] = value
    return [
        {"apiVersion": "v1", "kind": "Secret", "metadata": metadata(name, namespace), "data": values}
        for (namespace, name), values in data.items()
    ]
