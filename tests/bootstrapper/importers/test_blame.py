"""A refusal of what an imported config says names the field that its author wrote, in the words of that document.

Each field of both API versions stands in a config of its own and is imported in both formats. The machine is refused
once because the operator denies all that the field became, and once by a provisioner of which hardly any field is.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import yaml

from slipway.bootstrapper.documents.places import parse
from slipway.bootstrapper.importers.foreign_config import ImportResult, Surroundings
from slipway.bootstrapper.importers.lone_config import import_kubeadm_config
from slipway.bootstrapper.policy import Policy
from slipway.contract.errors import SlipwayError, Violation
from slipway.contract.features import feature_uses
from slipway.contract.source_position import SourceError
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.asking import bootstrapper
from tests.bootstrapper.importers.every_field import MODELS, Path, config, fields

pytestmark = pytest.mark.long

HEAD = re.compile(r"(KubeadmControlPlane/x: )?spec\.kubeadmConfigSpec\.")
VERSION = "v1.36.0"
SECRETS = {("ann", "a"): b"a", ("a", "a"): b"a"}
FORMATS = {"cloud-config": "cloud-init", "ignition": "ignition"}
KUBEADM_DOCUMENTS = {"clusterConfiguration", "initConfiguration", "joinConfiguration"}
WITH_KUBEADM_DOCUMENTS = {("v1beta1", "cloud-config"), ("v1beta2", "ignition")}
"""kubeadm's own documents are the same in both formats: each format has them in one version."""

COMMON = "leave it out, or ask the operator to allow it"

NEVER_REFUSED = {
    ("format",): "the config's own format",
    ("ignition", "containerLinuxConfig", "strict"): "of the transpiler",
    ("clusterConfiguration", "controlPlaneEndpoint"): "a fact of the cluster",
    ("clusterConfiguration", "kubernetesVersion"): "has no effect today either",
    ("clusterConfiguration", "clusterName"): "has no effect today either",
    ("clusterConfiguration", "apiVersion"): "means nothing in a config",
    ("clusterConfiguration", "kind"): "means nothing in a config",
    ("initConfiguration", "apiVersion"): "means nothing in a config",
    ("initConfiguration", "kind"): "means nothing in a config",
    ("joinConfiguration", "apiVersion"): "means nothing in a config",
    ("joinConfiguration", "kind"): "means nothing in a config",
    ("useExperimentalRetryJoin",): "has no effect today either",
}
"""Fields that become nothing which anybody could refuse."""

WHOLE = (
    r"files\.\d|users\.\d|mounts\.\d|ntp|diskSetup\.(partitions|filesystems)\.\d|(boot|preKubeadm|postKubeadm)Commands\.\d"
    r"|.*\.(extraVolumes|extraEnvs|extraArgs|kubeletExtraArgs|bootstrapTokens|diskLayout)\.\d|.*\.taints"
    r"|clusterConfiguration\.etcd\.external|joinConfiguration\.discovery\.(file|bootstrapToken|file\.kubeConfig)"
    r"|users\.\d\.passwdFrom|.*\.extraEnvs\.0\.valueFrom"
)
"""Parts of a config that are refused as a whole where a field in them is the cause: none works without its fields."""


def document(tree: dict[str, Any], api: str) -> str:
    """Give a control plane with a KubeadmConfigSpec."""
    spec = {"version": VERSION, "kubeadmConfigSpec": tree}
    head = {"apiVersion": f"controlplane.cluster.x-k8s.io/{api}", "kind": "KubeadmControlPlane"}
    return yaml.safe_dump({**head, "metadata": {"name": "x"}, "spec": spec})


def role_of(path: Path) -> clusterpb.Role.ValueType:
    """Give the role of the machine that the field is for."""
    return clusterpb.ROLE_CONTROL_PLANE if path[0] == "joinConfiguration" else clusterpb.ROLE_INIT


def imported(tree: dict[str, Any], api: str, role: clusterpb.Role.ValueType) -> ImportResult:
    """Import a config."""
    known = Surroundings(
        role=role, secrets=SECRETS, cluster=clusterpb.Cluster(endpoint=clusterpb.Endpoint(host="api.example.com"))
    )
    return import_kubeadm_config(document(tree, api), known)


async def refusals(
    result: ImportResult, role: clusterpb.Role.ValueType, provisioner: str, *, denied: frozenset[str] = frozenset()
) -> tuple[Violation, ...]:
    """Give what a machine is refused for."""
    request = bootstrappb.GetUserDataRequest(accept_attachments=True, accept_gzip=True)
    request.subject.spec.CopyFrom(result.spec)
    request.subject.spec.provisioner.name = provisioner
    request.subject.cluster.name, request.subject.cluster.kubernetes_version = "c", VERSION
    request.subject.cluster.endpoint.host = "api.example.com"
    request.subject.machine.name, request.subject.machine.role = "m", role
    for (name, key), value in SECRETS.items():
        request.credentials.secrets.add(name=name, key=key, value=value)
    for secret in result.secrets:
        request.credentials.secrets.add().CopyFrom(secret)
    try:
        await replace(bootstrapper(), policy=Policy(denied_features=denied)).user_data(request)
    except SlipwayError as error:
        return error.violations
    return ()


def shown(path: Path) -> str:
    """Give a path with dots alone, as the tables above have it."""
    return ".".join(map(str, path))


def is_there(tree: Any, path: Path) -> bool:
    """Return whether a document has a place."""
    for part in path:
        inside = part in tree if isinstance(tree, dict) else isinstance(tree, list) and int(part) < len(tree)
        if not inside:
            return False
        tree = tree[part]
    return True


def mistakes(tree: dict[str, Any], path: Path, violations: tuple[Violation, ...], *, exact: bool) -> Iterator[str]:
    """Give what is wrong with the places and remedies of a field's refusal; `exact` asks for the field itself."""
    places = []
    for violation in violations:
        place = HEAD.sub("", violation.path, count=1)
        outer, _, inner = place.partition(": ")
        parts = parse(outer)
        places.append(parts)
        if place == violation.path or not is_there(tree, parts) or violation.path.endswith(")"):
            yield f"{violation.path} is no place of the document"
        if inner and not re.fullmatch(r"passwd\.users\[0\](\.home_dir)?", inner):
            yield f"{inner} is no place of the snippet"
        if violation.remedy != COMMON:
            yield from foreign_words(tree, parts, violation)
    nearest = max((parts for parts in places if parts == path[: len(parts)]), key=len, default=())
    whole = re.fullmatch(WHOLE, shown(nearest)) is not None
    list_of_it = path[-1] == 0 and nearest == path[:-1]
    of_item = not exact and len(nearest) > 1
    if nearest != path and not list_of_it and not whole and not of_item:
        yield f"the nearest place is {shown(nearest) or 'elsewhere'}"


def foreign_words(tree: dict[str, Any], parts: Path, violation: Violation) -> Iterator[str]:
    """Give words of a remedy that look like fields, and that the document does not have."""
    keys = set(re.findall(r"[A-Za-z]+", yaml.safe_dump(tree)))
    head = violation.remedy.partition(", or choose ")[0]
    head = re.sub(r"to \S+.*", "", head)
    names = re.findall(r"\b[a-z]+[A-Z]\w*\b", head) + re.findall(r"leave out ([a-z]\w*)", head)
    for name in names:
        if name not in keys:
            yield f"{shown(parts)}: the remedy names {name}"


def features(result: ImportResult) -> frozenset[str]:
    """Give the features that a spec uses."""
    return frozenset(use.id for use in feature_uses(result.spec))


@cache
def features_of_empty(form: str, api: str, role: clusterpb.Role.ValueType) -> frozenset[str]:
    """Give the features of a config that sets nothing but its format."""
    return features(imported({"format": form}, api, role))


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("api", "form"), [(api, form) for api in MODELS for form in FORMATS])
async def test_what_is_refused_is_named_as_it_was_written(api: str, form: str) -> None:
    """By the operator, and by Talos, which takes little of a config: at the field, and by its own name."""
    wrong: dict[str, list[str]] = {}
    for path in fields(MODELS[api]):
        if path[0] in KUBEADM_DOCUMENTS and (api, form) not in WITH_KUBEADM_DOCUMENTS:
            continue
        tree, role = config(api, path, form), role_of(path)
        try:
            result = imported(tree, api, role)
        except SourceError as error:
            near = [parse(violation.path.removeprefix("spec.kubeadmConfigSpec.")) for violation in error.problems]
            if not any(parts in {path, path[:-1], path[:1]} for parts in near):
                wrong[shown(path)] = [str(error)]
            continue
        own = features(result) - features_of_empty(form, api, role)
        denied = await refusals(result, role, FORMATS[form], denied=own)
        faults = list(mistakes(tree, path, denied, exact=True))
        if path in NEVER_REFUSED or path[:2] == ("clusterConfiguration", "networking"):
            faults = ["is refused"] if denied else []
        elsewhere = [
            violation for violation in await refusals(result, role, "talos") if violation.path.startswith("Kubeadm")
        ]
        faults += mistakes(tree, path, tuple(elsewhere), exact=False) if elsewhere else ()
        if faults:
            wrong[shown(path)] = faults
    assert wrong == {}


PLANE = "clusterConfiguration: {certificatesDir: /a/pki, apiServer: {extraArgs: %s}}\n"
INIT = "initConfiguration: {localAPIEndpoint: {bindPort: 7443}, skipPhases: [a]}\n"
MERGED = [
    ("v1beta2", PLANE % "[{name: a, value: b}]" + INIT, "kubernetes.control_plane.api_server.arguments",
     ["clusterConfiguration.apiServer.extraArgs[0]"], "the machine's item has the place of localAPIEndpoint"),
    ("v1beta1", PLANE % "{b: c, a: b}" + INIT, "kubernetes.control_plane.api_server.arguments",
     ["clusterConfiguration.apiServer.extraArgs.a", "clusterConfiguration.apiServer.extraArgs.b"], "a map has names"),
    ("v1beta2", PLANE % "[]" + INIT, "kubernetes.control_plane.bind_port",
     ["initConfiguration.localAPIEndpoint.bindPort"], "the other of both"),
    ("v1beta2", "initConfiguration: {timeouts: {etcdAPICallSeconds: 5, tlsBootstrapSeconds: 5}}",
     "kubernetes.timeouts", ["initConfiguration.timeouts.tlsBootstrapSeconds"], "the document has one item for two"),
    ("v1beta2", "users: [{name: a, groups: 'b,c', sudo: d}]", "os.users.sudo", ["users[0].sudo"], "one text"),
    ("v1beta2", "diskSetup: {filesystems: [{device: /dev/sdb, filesystem: ext4, replaceFS: ntfs}]}",
     "os.storage.filesystems.replace_format", ["diskSetup.filesystems[0].replaceFS"], "the name that the document has"),
]  # fmt: skip


@pytest.mark.parametrize(("api", "spec", "feature", "expected", "reason"), MERGED)
async def test_parts_of_merged_items_are_named_where_they_stand(
    api: str, spec: str, feature: str, expected: list[str], reason: str
) -> None:
    """An item may be made of several parts of a config, and a part of it of another one than the item."""
    result = imported(yaml.safe_load(spec), api, clusterpb.ROLE_INIT)
    violations = await refusals(result, clusterpb.ROLE_INIT, "cloud-init", denied=frozenset({feature}))
    assert sorted(HEAD.sub("", violation.path) for violation in violations) == expected, reason


async def test_what_only_slipway_added_is_not_blamed() -> None:
    """The feature gate of KubeadmControlPlane stands in no document: only the field beside it is named."""
    tree = yaml.safe_load("clusterConfiguration: {certificatesDir: /a/pki}\ninitConfiguration: {skipPhases: [a]}")
    text = document(tree, "v1beta2").replace(VERSION, "v1.34.2")
    result = import_kubeadm_config(text, Surroundings(role=clusterpb.ROLE_INIT))
    assert [gate.name for gate in result.spec.engine_options.kubeadm.feature_gates]
    violations = await refusals(result, clusterpb.ROLE_INIT, "talos")
    named = {HEAD.sub("", violation.path) for violation in violations if violation.feature == "engine_options.kubeadm"}
    assert named == {"clusterConfiguration.certificatesDir", "initConfiguration.skipPhases"}


BROKEN = [
    ("users: [{name: 'a/b'}]", "users[0].name", "a name"),
    ("files: [{path: /a, content: b, owner: 'a/b:c'}]", "files[0].owner", "the same"),
    ("files: [{path: /a, content: b, owner: 'a:b/c'}]", "files[0].owner", "the group is a part of the owner"),
    ("files: [{path: /a, contentFrom: {secret: {name: a_b, key: c}}}]", "files[0].contentFrom.secret.name", "nested"),
    ("users: [{name: a, passwdFrom: {secret: {name: a_b, key: c}}}]", "users[0].passwdFrom.secret.name", "nested"),
    ("users: [{name: a, homeDir: b}]", "users[0].homeDir", "another name"),
    ("users: [{name: a, groups: 'b,c/d'}]", "users[0].groups", "an entry of a text"),
    ("clusterConfiguration: {apiServer: {certSANs: ['a b']}}", "clusterConfiguration.apiServer.certSANs[0]", "moved"),
    ("initConfiguration: {nodeRegistration: {name: a_b}}", "initConfiguration.nodeRegistration.name", "of two"),
    ("initConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: 'a b', value: c}]}}",
     "initConfiguration.nodeRegistration.kubeletExtraArgs[0].name", "an entry"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "expected", "reason"), BROKEN)
async def test_a_value_that_no_machine_takes_is_named_as_it_was_written(spec: str, expected: str, reason: str) -> None:
    """The rules of neutral specs hold for imported ones, and so do the names of their documents."""
    result = imported(yaml.safe_load(spec), "v1beta2", clusterpb.ROLE_INIT)
    violations = await refusals(result, clusterpb.ROLE_INIT, "cloud-init")
    assert [HEAD.sub("", violation.path) for violation in violations] == [expected], reason
