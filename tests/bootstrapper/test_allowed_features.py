"""A list of allowed features is a sandbox: what is not on it reaches no provisioner, whatever it is and wherever it is.

The list is that of the how-to, so that what the page promises is what is tried here.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from slipway.bootstrapper.assembly.layers import Layers
from slipway.bootstrapper.assembly.subject import CheckedSubject
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.policy import Policy
from slipway.bootstrapper.settings import BootstrapperSettings
from slipway.contract.errors import FeatureDenied
from slipway.contract.feature_uses import uses
from slipway.contract.features import feature_uses
from slipway.contract.field_plans import plan
from slipway.embedded.bootstrapper import embedded_bootstrapper, served
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.asking import asked, question

PAGE = Path("docs/how-to/allow-features.md").read_text(encoding="utf-8")
SANDBOX = frozenset(
    re.search(r"SLIPWAY_ALLOWED_FEATURES='([^']*)'", PAGE).group(1).split(",")  # type: ignore[union-attr]
)
BOOTSTRAPPER = embedded_bootstrapper(store=PlaceholderStore(), policy=Policy(allowed_features=SANDBOX))

HARMLESS = "{kubernetes: {node: {labels: [{name: example.com/rack, value: r1}], taints: {items: []}}}}"
SCALARS = {FieldDescriptor.TYPE_STRING: "x", FieldDescriptor.TYPE_BYTES: b"x", FieldDescriptor.TYPE_BOOL: True}
KEY = "ssh-ed25519 AAAA"
POD = '{"apiVersion": v1, "kind": Pod, "metadata": {"name": x}, "spec": {"containers": [{"name": x, "image": x}]}}'
HOSTILE = [
    ("commands: {pre: [{argv: [id]}]}", "os.commands.pre", "spec.commands.pre[0]", "a command"),
    ("commands: {boot: [{script: {text: id}}]}", "os.commands.boot", "spec.commands.boot[0]", "one of every boot"),
    ("join: {commands: {post: [{argv: [id]}]}}", "os.commands.post", "spec.join.commands.post[0]", "one of a role"),
    ("os: {files: [{path: /etc/cron.d/x, content: {text: x}}]}", "os.files", "spec.os.files[0]", "a job of cron"),
    (
        "join: {os: {files: [{path: /etc/cron.d/x, content: {text: x}}]}}",
        "os.files",
        "spec.join.os.files[0]",
        "a role's",
    ),
    ("os: {directories: [{path: /etc, mode: '0777'}]}", "os.directories", "spec.os.directories[0]", "everybody's /etc"),
    ("os: {links: [{path: /etc/x, target: /root}]}", "os.links", "spec.os.links[0]", "a link"),
    (f"os: {{users: [{{name: x, sshAuthorizedKeys: ['{KEY}']}}]}}", "os.users", "spec.os.users[0]", "an account"),
    ("os: {users: [{name: x, uid: 0}]}", "os.users.uid", "spec.os.users[0].uid", "a second root"),
    ("os: {users: [{name: x, groups: [docker]}]}", "os.users", "spec.os.users[0]", "a group that is as good as root"),
    ("os: {mounts: [{source: 'h:/x', path: /usr/local, type: nfs}]}", "os.storage.mounts", "spec.os.mounts[0]", "nfs"),
    (
        "os: {systemdUnits: [{name: x.service, contents: '[Unit]'}]}",
        "os.systemd.units",
        "spec.os.systemdUnits[0]",
        "a unit",
    ),
    (
        "os: {sysctls: [{name: kernel.core_pattern, value: '|/x'}]}",
        "os.sysctls",
        "spec.os.sysctls[0]",
        "runs a program",
    ),
    ("os: {kernelModules: [{name: x}]}", "os.kernel.modules", "spec.os.kernelModules[0]", "a module"),
    ("os: {kernelArguments: [{argument: init=/bin/sh}]}", "os.kernel.arguments", "spec.os.kernelArguments[0]", "init"),
    ("os: {packages: {install: [{name: x}]}}", "os.packages.install", "spec.os.packages.install[0]", "a package"),
    ("os: {proxy: {httpsProxy: 'http://x.example'}}", "os.proxy", "spec.os.proxy", "everything that is downloaded"),
    (
        "os: {containerd: {sandboxImage: x/y}}",
        "os.containerd.sandbox_image",
        "spec.os.containerd.sandboxImage",
        "image",
    ),
    (
        "extensions: [{id: a.example/b, mediaType: a/b, content: {text: x}}]",
        "ext.a.example/b",
        "spec.extensions[0].id",
        "any",
    ),
    (
        f"kubernetes: {{staticPods: [{{name: x, manifest: {{text: '{POD}'}}}}]}}",
        "kubernetes.static_pods",
        "spec.kubernetes.staticPods[0]",
        "a privileged pod",
    ),
    (
        "kubernetes: {node: {kubeletArguments: [{name: max-pods, value: '9'}]}}",
        "kubernetes.node.kubelet_arguments",
        "spec.kubernetes.node.kubeletArguments[0]",
        "an argument that names a folder of pods",
    ),
    (
        "kubernetes: {discovery: {token: {endpoint: 'evil.example:6443'}}}",
        "kubernetes.discovery.token.endpoint",
        "spec.kubernetes.discovery.token.endpoint",
        "another cluster",
    ),
    (
        "kubernetes: {images: {repository: evil.example}}",
        "kubernetes.images.repository",
        "spec.kubernetes.images.repository",
        "others' images",
    ),
    (
        "engineOptions: {kubeadm: {skippedPhases: [x]}}",
        "engine_options.kubeadm",
        "spec.engineOptions.kubeadm",
        "kubeadm's own",
    ),
]


@pytest.mark.parametrize("provisioner", served())
@pytest.mark.parametrize(("text", "feature", "place", "reason"), HOSTILE, ids=[row[3] for row in HOSTILE])
async def test_no_way_to_root_leaves_the_sandbox(
    text: str, feature: str, place: str, reason: str, provisioner: str
) -> None:
    """A valid spec that would own its machine is refused by feature and field, for every provisioner alike."""
    assert reason
    with pytest.raises(FeatureDenied) as refused:
        await BOOTSTRAPPER.user_data(asked(question(f"{{{text}}}"), provisioner))
    places = [
        (violation.path.removeprefix("SlipwayConfig/k: "), violation.feature) for violation in refused.value.violations
    ]
    assert (place, feature) in places
    assert feature in refused.value.metadata["features"].split(",")


@pytest.mark.parametrize("provisioner", served())
async def test_what_is_on_the_list_is_rendered(provisioner: str) -> None:
    """What Slipway itself adds to a machine, its role and credentials, needs no entry."""
    assert (await BOOTSTRAPPER.user_data(asked(question(HARMLESS), provisioner))).user_data


def samples(descriptor: Descriptor, seen: frozenset[str] = frozenset()) -> Iterator[Message]:
    """Give for every field below a message type a message that has it set, and nothing else but what holds it."""
    made = GetMessageClass(descriptor)
    for number, field in plan(descriptor).items():
        known = descriptor.fields_by_number[number]
        values: list[Any] = [SCALARS.get(known.type, 1)]
        if field.message is not None:
            deeper = () if field.message.full_name in seen else samples(field.message, seen | {descriptor.full_name})
            values = [GetMessageClass(field.message)(), *deeper]
        elif field.value_features:
            values = list(field.value_features)
        for value in values:
            yield made(**{field.name: [value] if field.repeated else value})


SAMPLES = list(samples(specpb.MachineBootstrapSpec.DESCRIPTOR))


def subject_of(spec: specpb.MachineBootstrapSpec, own: planpb.Plan | None = None) -> CheckedSubject:
    """Give a machine whose spec has not been checked: the policy does not rely on that."""
    return CheckedSubject(spec, clusterpb.Cluster(), clusterpb.Machine(), Layers(spec, clusterpb.ROLE_WORKER), own)


def check_both(policy: Policy, spec: specpb.MachineBootstrapSpec) -> None:
    """Have a policy judge a spec, and the bundle that is made of it."""
    policy.check_spec(subject_of(spec))
    policy.check_features(bundlepb.BootstrapBundle(os=spec.os))


def test_every_feature_of_a_spec_needs_its_entry() -> None:
    """For each field that a spec can have: its features are refused unless each is on the list."""
    tried: set[str] = set()
    for spec in SAMPLES:
        assert isinstance(spec, specpb.MachineBootstrapSpec)
        ids = frozenset(use.id for use in feature_uses(spec))
        tried |= ids
        Policy(allowed_features=ids).check_spec(subject_of(spec))
        for id_ in ids:
            with pytest.raises(FeatureDenied) as refused:
                Policy(allowed_features=ids - {id_}).check_spec(subject_of(spec))
            assert refused.value.metadata["features"] == id_
            assert refused.value.violations[0].feature == id_
    assert len(tried) > 500, "the samples reach the features of a spec"


def test_a_plan_of_a_bootstrap_provider_is_held_to_the_list_too() -> None:
    """Its steps are commands."""
    own = planpb.Plan(steps=[planpb.Step(id="x", command=planpb.Command(argv=["id"]))])
    with pytest.raises(FeatureDenied) as refused:
        Policy(allowed_features=SANDBOX).check_spec(subject_of(specpb.MachineBootstrapSpec(), own))
    assert "spec.plan.steps[0]" in [violation.path for violation in refused.value.violations]


def test_what_has_no_feature_gives_nothing_on_the_machine() -> None:
    """The parts of a spec that no list can name are known; a new one gets a feature, or a line here."""
    without = {
        "provisioner": "--allowed-provisioners decides",
        "target": "which rules of lowering hold; what the infrastructure knows wins",
        "optional_features": "leaves things out, and adds none",
        "execution": "what happens after a failure of one's own commands",
        "extensions": "one without an id, which is invalid",
        "imported": "set by importers only",
        "delivery": "where the user data wait, which the operator's store decides",
        "agent": "runs what a manifest names that the operator's key has signed",
    }
    bare = [spec for spec in SAMPLES if not list(uses(spec))]
    values = {
        str(spec).partition(" ")[0].rstrip(":") for spec in bare if ":" in str(spec) and "origin" not in str(spec)
    }
    assert values == set(without)


@pytest.mark.parametrize(
    ("value", "allowed", "reason"),
    [
        ("os.ntp, ext.a.b/*", frozenset({"os.ntp", "ext.a.b/*"}), "a list"),
        ("*", frozenset({"*"}), "all that there is"),
        ("", frozenset(), "nothing at all, and not everything"),
        (None, None, "everything"),
    ],
)
def test_the_list_is_read_from_a_flag(value: str | None, allowed: frozenset[str] | None, reason: str) -> None:
    """As the other lists are; an empty one is a list."""
    assert reason
    flags = {} if value is None else {"allowed_features": value}
    settings = BootstrapperSettings(listen_address="127.0.0.1:0", insecure=True, **flags)
    assert settings.policy().allowed_features == allowed


@pytest.mark.parametrize("name", ["allowed_features", "denied_features"])
@pytest.mark.parametrize("value", ["os.*.x", "os commands", "OS.FILES"])
def test_a_list_of_what_is_no_feature_is_an_error(name: str, value: str) -> None:
    """An entry that means nothing would deny nothing."""
    with pytest.raises(ValueError, match="must be feature ids"):
        BootstrapperSettings(listen_address="127.0.0.1:0", insecure=True, **{name: value})


@pytest.mark.parametrize("name", ["allowed_features", "denied_features"])
@pytest.mark.parametrize("value", ["os.command", "kubernetes.bootstrap_tokens*", "os.files,os.fils*", "ext"])
def test_a_list_that_names_no_feature_of_the_contract_is_an_error(name: str, value: str) -> None:
    """A feature that was renamed or misspelt would be neither denied nor allowed, without a word."""
    with pytest.raises(ValueError, match=r"names \S+, which no feature has"):
        BootstrapperSettings(listen_address="127.0.0.1:0", insecure=True, **{name: value})


@pytest.mark.parametrize("value", ["*", "os.*", "os.commands", "ext.*", "ext.own.example.com/x", "kubernetes.node.*"])
def test_a_list_of_what_there_is_is_taken(value: str) -> None:
    """Of extensions any may exist."""
    assert BootstrapperSettings(listen_address="127.0.0.1:0", insecure=True, denied_features=value).denied_features


@pytest.mark.parametrize(
    "policy", [Policy(denied_features=frozenset({"os.users.sudo"})), Policy(allowed_features=SANDBOX)]
)
def test_the_image_s_own_user_is_one_with_sudo(policy: Policy) -> None:
    """An imported config may name it: cloud-init lets it use sudo, though the config has no rule for that."""
    spec = specpb.MachineBootstrapSpec()
    spec.imported.kind = "KubeadmConfig"
    spec.os.users.add(name="default", ssh_authorized_keys=[KEY])
    with pytest.raises(FeatureDenied) as refused:
        check_both(policy, spec)
    assert "os.users.sudo" in refused.value.metadata["features"].split(",")
