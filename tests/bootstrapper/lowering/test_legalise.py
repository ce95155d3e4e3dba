"""Tests of legalisation itself: what stays native, what is lowered with what, what is refused and what is left out."""

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from google.protobuf import text_format
from hypothesis import HealthCheck, given, settings

from bootstrapper.lowering.draft import CannotLower, Draft, Refusal
from bootstrapper.lowering.finish import finish
from bootstrapper.lowering.legalise import Legalised, legalise
from bootstrapper.lowering.order import Rank
from bootstrapper.lowering.passes import Pass, PassTable
from bootstrapper.lowering.table import all_passes
from bootstrapper.os_profiles import ProfileTable
from services.contract.errors import Violation
from services.contract.features import unsupported
from services.contract.walk import Item, items
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.lowering.lowered_systems import SUPPORTS
from tests.bootstrapper.lowering.specs import systems

LINUX = clusterpb.OS_FAMILY_LINUX
EVERYTHING_BUT = {
    "os.directories",
    "os.files",
    "os.files.append",
    "os.groups",
    "os.links",
    "os.links.hard",
    "os.storage.disks",
    "os.storage.filesystems",
    "os.storage.mounts",
    "os.storage.swap",
    "os.users",
    "os.users.home",
    "os.users.primary_group",
    "plan.entrypoint",
}


def supports(ids: Iterable[str]) -> list[provisionerpb.FeatureSupport]:
    """Declare features."""
    return [provisionerpb.FeatureSupport(id=id_) for id_ in ids]


def written(bundle: bundlepb.BootstrapBundle) -> bundlepb.BootstrapBundle:
    """Give every item the origin that a reader of documents would."""
    for item in items(bundle):
        item.message.origin.document = "SlipwayConfig/test"
        item.message.origin.path = f"spec.{item.path}"
    return bundle


def work(  # noqa: PLR0913  # keyword-only, each with a default
    bundle: bundlepb.BootstrapBundle,
    declares: Iterable[str],
    *,
    table: PassTable | None = None,
    optional: Iterable[str] = (),
    rejected: Iterable[Violation] = (),
    distribution: str = "debian",
) -> tuple[Draft, Legalised]:
    """Legalise a bundle; `table` None means the real passes."""
    family = clusterpb.OS_FAMILY_WINDOWS if distribution == "windows" else LINUX
    target = clusterpb.Target(os_family=family, distribution=distribution, infrastructure="aws")
    draft = Draft(written(bundle), ProfileTable.shipped().find(target), target)
    result = legalise(
        draft,
        supports(declares),
        table=all_passes() if table is None else table,
        optional_features=frozenset(optional),
        rejected={one.path: one for one in rejected},
    )
    return draft, result


def text(message: str) -> bundlepb.BootstrapBundle:
    """Read a bundle's operating system in protobuf's text form."""
    return bundlepb.BootstrapBundle(os=text_format.Parse(message, ospb.OperatingSystem()))


ROOTS = 'owner: "root" group: "root"'


@pytest.mark.parametrize(
    ("reason", "unsupported_feature", "system", "goes", "stays"),
    [
        (
            "a user's files wait for the user, and other files do not",
            "os.users",
            f'users {{ name: "ann" }} files {{ path: "/a" owner: "ann" }} files {{ path: "/b" {ROOTS} }}',
            {"/a"},
            {"/b"},
        ),
        (
            "a file may belong to the group that is a lowered user's own",
            "os.users",
            'users { name: "ann" } directories { path: "/a" owner: "root" group: "ann" }',
            {"/a"},
            set(),
        ),
        (
            "a group's files and links wait for the group",
            "os.groups",
            ('groups { name: "team" } files { path: "/a" owner: "root" group: "team" }'
            f'links {{ path: "/l" target: "x" group: "team" }} links {{ path: "/m" target: "x" {ROOTS} }}'),
            {"/a", "/l"},
            {"/m"},
        ),
        (
            "what lies in the home of a lowered user would make the home root's",
            "os.users",
            (f'users {{ name: "ann" }} users {{ name: "bob" home: "/srv/bob" }} files {{ path: "/home/ann/f" {ROOTS} }}'
            f'files {{ path: "/srv/bob/f" {ROOTS} }} files {{ path: "/srv/bobby" {ROOTS} }}'),
            {"/home/ann/f", "/srv/bob/f"},
            {"/srv/bobby"},
        ),
        (
            "root is there whether it is lowered or not",
            "os.users",
            f'users {{ name: "root" }} files {{ path: "/root/f" {ROOTS} }}',
            set(),
            {"/root/f"},
        ),
        (
            "what lies on a lowered mount would be hidden by it",
            "os.storage.mounts",
            (f'mounts {{ source: "tmpfs" path: "/mnt/a" }} files {{ path: "/mnt/a/f" {ROOTS} }}'
            f'directories {{ path: "/mnt/a" {ROOTS} }} swaps {{ path: "/mnt/a/swap" size_mib: 1 }}'
            f'files {{ path: "/mnt/ab" {ROOTS} }}'),
            {"/mnt/a", "/mnt/a/f"},
            {"/mnt/ab"},
        ),
        (
            "a later entry for the same path comes after an earlier one",
            "os.files.append",
            f'files {{ path: "/a" {ROOTS} }} files {{ path: "/a" append: true }} files {{ path: "/b" {ROOTS} }}',
            {"/a"},
            {"/b"},
        ),
        (
            "a hard link needs the file that it links to; a symbolic link needs nothing",
            "os.files.append",
            (f'files {{ path: "/a" append: true {ROOTS} }} links {{ path: "/h" target: "/a" hard: true {ROOTS} }}'
            f'links {{ path: "/s" target: "/a" {ROOTS} }}'),
            {"/a", "/h"},
            {"/s"},
        ),
        (
            "a folder that is a link can not be made by a file that lies in it",
            "os.links",
            f'links {{ path: "/data" target: "/mnt/data" {ROOTS} }} files {{ path: "/data/f" {ROOTS} }}',
            {"/data", "/data/f"},
            set(),
        ),
        (
            "a lowered directory does not take its files along: the runner gives it owner and mode afterwards",
            "os.directories",
            f'directories {{ path: "/d" {ROOTS} }} files {{ path: "/d/f" {ROOTS} }}',
            {"/d"},
            {"/d/f"},
        ),
    ],
    ids=lambda value: value.replace(" ", "-")[:40] if isinstance(value, str) and " " in value else None,
)
def test_items_are_lowered_with_what_they_depend_on(
    reason: str, unsupported_feature: str, system: str, goes: set[str], stays: set[str]
) -> None:
    """Native work comes before all lowered work, so what needs something lowered is staged, and nothing else is."""
    draft, result = work(text(system), EVERYTHING_BUT - {unsupported_feature})
    assert result.refusals == [], reason
    assert {one.entry.path for one in draft.staged} == goes, reason
    left = [*draft.bundle.os.files, *draft.bundle.os.directories, *draft.bundle.os.links]
    assert {entry.path for entry in left if not entry.origin.made_by} == stays, reason
    assert all(one.entry.origin.document == "SlipwayConfig/test" for one in draft.staged)


@pytest.mark.parametrize(
    ("reason", "unsupported_feature", "system", "lowered"),
    [
        (
            "a user of a lowered group",
            "os.groups",
            'groups {name: "g"} users {name: "a" primary_group: "g"} users {name: "b" groups: "g"} users {name: "c"}',
            ["os.users[0]", "os.users[1]", "os.groups[0]"],
        ),
        (
            "a user whose home is on a lowered mount",
            "os.storage.mounts",
            'mounts { source: "tmpfs" path: "/home" } users { name: "a" } users { name: "b" home: "/srv/b" }',
            ["os.users[0]", "os.mounts[0]"],
        ),
        (
            "a mount below a lowered mount",
            "os.storage.mounts.pass",
            ('mounts { source: "/dev/a" path: "/m" pass: 1 } mounts { source: "/dev/b" path: "/m/n" }'
            'mounts { source: "/dev/c" path: "/o" }'),
            ["os.mounts[0]", "os.mounts[1]"],
        ),
    ],
)
def test_dependence_goes_on(reason: str, unsupported_feature: str, system: str, lowered: list[str]) -> None:
    """Items that depend on lowered ones are lowered themselves, and then what depends on them."""
    draft, result = work(text(system), EVERYTHING_BUT - {unsupported_feature})
    assert result.refusals == [], reason
    assert sorted(one.field_path for one in draft.lowered) == sorted(lowered), reason


def test_ranks_put_homes_on_their_mounts() -> None:
    """Lowered mounts come before lowered users, as a first-boot system has it, and users before their files."""
    order = [Rank.PACKAGES, Rank.MOUNTS, Rank.GROUPS, Rank.USERS, Rank.DIRECTORIES, Rank.FILES, Rank.SYSTEMD_UNITS]
    assert order == sorted(order)


def test_a_chain_of_refusals_follows_the_disk() -> None:
    """A filesystem on a disk that nobody takes is refused, and so is its mount; each names its own place and remedy."""
    system = (
        'disks { device: "/dev/b" } filesystems { device: "/dev/b1" format: "ext4" }'
        'mounts { source: "/dev/b1" path: "/m" }'
    )
    _, result = work(text(system), EVERYTHING_BUT - {"os.storage.disks"})
    assert [one.path for one in result.refusals] == ["os.disks[0]", "os.filesystems[0]"]
    assert [one.origin.path for one in result.refusals] == ["spec.os.disks[0]", "spec.os.filesystems[0]"]
    assert all(one.remedy for one in result.refusals)
    assert "os.storage.disks is not supported" in result.refusals[0].reason
    assert "depends on" in result.refusals[1].reason


def test_every_refusal_is_found_at_once() -> None:
    """Nobody wants to correct a spec one refusal at a time."""
    bundle = text('disks { device: "/dev/b" } kernel_arguments { argument: "a" } kernel_arguments { argument: "b" }')
    bundle.extensions.add(id="elsewhere.example.com/x")
    _, result = work(bundle, {"plan.entrypoint", "os.files"})
    assert [(one.feature, one.path) for one in result.refusals] == [
        ("os.storage.disks", "os.disks[0]"),
        ("os.kernel.arguments", "os.kernel_arguments[0]"),
        ("os.kernel.arguments", "os.kernel_arguments[1]"),
        ("ext.elsewhere.example.com/x", "extensions[0]"),
    ]


# What a spec allows to be left out.


def test_optional_items_are_left_out_with_a_word() -> None:
    """What can be neither taken nor lowered goes when it is optional; what can be lowered is lowered all the same."""
    bundle = text('kernel_arguments { argument: "a" } sysctls { name: "vm.swappiness" value: "1" }')
    draft, result = work(bundle, {"plan.entrypoint", "os.files"}, optional={"os.kernel.arguments", "os.sysctls"})
    assert result.refusals == []
    assert [(one.feature, one.origin.path) for one in result.omitted] == [
        ("os.kernel.arguments", "spec.os.kernel_arguments[0]")
    ]
    assert [one.feature for one in draft.lowered] == ["os.sysctls"]
    assert not draft.bundle.os.kernel_arguments


def test_an_optional_extension_is_left_out() -> None:
    """That is how one spec serves several first-boot systems, each with its own extension."""
    extensions = [specpb.Extension(id="one.example.com/x"), specpb.Extension(id="two.example.com/y")]
    bundle = bundlepb.BootstrapBundle(extensions=extensions)
    draft, result = work(
        bundle, {"ext.two.example.com/y"}, optional={"ext.one.example.com/x", "ext.two.example.com/y"}
    )
    assert result.refusals == []
    assert [one.feature for one in result.omitted] == ["ext.one.example.com/x"]
    assert [one.id for one in draft.bundle.extensions] == ["two.example.com/y"]


def test_a_single_optional_field_is_left_out_of_its_item() -> None:
    """The item itself stays native when only an optional property of it can not be honoured, in every entry."""
    system = 'filesystems { device: "/dev/a" format: "ext4" options: "-q" options: "-F" label: "x" }'
    declares = EVERYTHING_BUT | {"os.storage.filesystems.label"}
    draft, result = work(text(system), declares, optional={"os.storage.filesystems.options"})
    assert result.refusals == []
    assert [one.path for one in result.omitted] == ["os.filesystems[0].options[0]", "os.filesystems[0].options[1]"]
    (filesystem,) = draft.bundle.os.filesystems
    assert (filesystem.label, list(filesystem.options)) == ("x", [])


def test_an_item_with_a_further_unsupported_field_is_refused_as_a_whole() -> None:
    """Optional fields do not save an item that asks for something else that nobody can honour."""
    system = 'filesystems { device: "/dev/a" format: "ext4" options: "-q" label: "x" }'
    draft, result = work(text(system), EVERYTHING_BUT, optional={"os.storage.filesystems.options"})
    assert [(one.feature, one.remedy) for one in result.refusals] == [("os.storage.filesystems", "leave out label")]
    assert result.omitted == []
    assert not draft.bundle.os.filesystems


def test_every_part_of_an_item_that_nobody_honours_is_told() -> None:
    """At once, each with its own remedy: not the next one only when the first is repaired."""
    system = 'filesystems { device: "/dev/a" format: "ext4" options: "-q" options: "-v" label: "x" }'
    _, result = work(text(system), EVERYTHING_BUT)
    assert [one.remedy for one in result.refusals] == ["leave out label", "leave out options"]


def test_optional_parts_of_an_intent_are_left_out_and_facts_never() -> None:
    """A part of the Kubernetes spec may be optional; the role of the machine is not the spec's to drop."""
    bundle = bundlepb.BootstrapBundle()
    bundle.intent.role = clusterpb.ROLE_WORKER
    bundle.intent.kubernetes.images.repository = "example.com"
    bundle.intent.kubernetes.feature_gates.add(name="A")
    optional = {"kubernetes.images", "kubernetes.images.repository", "kubernetes.feature_gates"}
    optional.add("kubernetes.role.worker")
    draft, result = work(bundle, {"kubernetes.role"}, table=PassTable(()), optional=optional)
    assert {one.feature for one in result.omitted} >= {"kubernetes.images", "kubernetes.feature_gates"}
    assert [one.feature for one in result.refusals] == ["kubernetes.role.worker"]
    assert not draft.bundle.intent.kubernetes.HasField("images")
    assert not draft.bundle.intent.kubernetes.feature_gates
    assert draft.bundle.intent.role == clusterpb.ROLE_WORKER


@pytest.mark.parametrize(
    ("wanted", "declares", "refused", "stays"),
    [
        (ospb.DEFAULT_USER_KEEP, set(), [], False),
        (ospb.DEFAULT_USER_OMIT, set(), ["os.default_user.omit"], False),
        (ospb.DEFAULT_USER_OMIT, {"os.default_user", "os.default_user.omit"}, [], True),
    ],
)
def test_the_distributions_user(wanted: Any, declares: set[str], refused: list[str], *, stays: bool) -> None:
    """Keeping it needs nobody's help; leaving it out can not be done after the fact."""
    draft, result = work(bundlepb.BootstrapBundle(os=ospb.OperatingSystem(default_user=wanted)), declares)
    assert [one.feature for one in result.refusals] == refused
    assert draft.bundle.os.HasField("default_user") == stays


# What the provisioner itself refuses.


def test_what_render_refuses_is_lowered_with_what_depends_on_it() -> None:
    """A field below an item stands for the item."""
    system = f'users {{ name: "ann" }} files {{ path: "/a" owner: "ann" group: "ann" }} files {{ path: "/b" {ROOTS} }}'
    draft, result = work(text(system), EVERYTHING_BUT, rejected=[Violation("os.users[0].gecos", "no colon, please")])
    assert result.refusals == []
    assert [one.field_path for one in draft.lowered] == ["os.files[0]", "os.users[0]"]
    assert [file.path for file in draft.bundle.os.files] == ["/b"]


def test_what_render_refuses_and_no_pass_takes_is_refused_in_the_provisioners_words() -> None:
    """The user learns the true reason, not that something was not supported."""
    _, result = work(
        text('disks { device: "/dev/b" }'), EVERYTHING_BUT, rejected=[Violation("os.disks[0]", "more than 100 percent")]
    )
    (refusal,) = result.refusals
    assert refusal.feature == "os.storage.disks"
    assert refusal.reason.startswith("more than 100 percent")
    assert refusal.origin.path == "spec.os.disks[0]"


def test_each_thing_that_render_refuses_in_an_item_is_told() -> None:
    """A node has no feature of its own: what was refused in it has, and each of it has a reason."""
    node = "intent.kubernetes.node"
    said = [
        Violation(f"{node}.labels[1]", "is a label that nobody may give itself", "kubernetes.node.labels", "drop it"),
        Violation(f"{node}.kubelet_arguments[0]", "is unknown", "kubernetes.node.kubelet_arguments"),
    ]
    bundle = bundlepb.BootstrapBundle()
    bundle.intent.kubernetes.node.labels.add(name="a")
    labels = "kubernetes.node.labels"
    _, result = work(bundle, [*EVERYTHING_BUT, labels], rejected=said, optional=[labels])
    assert [(one.feature, one.remedy) for one in result.refusals] == [
        ("kubernetes.node.labels", "drop it"),
        ("kubernetes.node.kubelet_arguments", "change kubeletArguments[0], or leave it out"),
    ]
    assert result.refusals[1].reason.startswith("kubeletArguments[0] is unknown")
    assert result.omitted == []


# The rounds.


def entry(rank: str, emits: Iterable[str], lower: Callable[[Sequence[Item], Draft], None]) -> Pass:
    """Make a pass for a feature of Linux."""
    return Pass(f"test.{rank}", rank, LINUX, frozenset(emits), lower)


def to_groups(found: Sequence[Item], draft: Draft) -> None:
    """Turn users into groups."""
    for one in found:
        draft.bundle.os.groups.add(name=one.message.name, origin=one.message.origin)


def to_users(found: Sequence[Item], draft: Draft) -> None:
    """Turn groups into users."""
    for one in found:
        draft.bundle.os.users.add(name=one.message.name, origin=one.message.origin)


def to_files(found: Sequence[Item], draft: Draft) -> None:
    """Turn anything into files."""
    for one in found:
        draft.file(f"/{one.message.name}", b"", source=one.message, by="test")


def give_up_on(name: str) -> Callable[[Sequence[Item], Draft], None]:
    """Make a pass that writes for what comes first, and then gives up on one item."""

    def lower(found: Sequence[Item], draft: Draft) -> None:
        for one in found:
            if one.message.name == name:
                raise CannotLower(one, "no such thing here", remedy="another name")
            draft.file(f"/{one.message.name}", b"", source=one.message, by="test")

    return lower


def test_what_a_pass_emits_is_lowered_in_turn() -> None:
    """Users become groups, and groups files: rounds go on until everything is declared."""
    table = PassTable([entry("os.users", {"os.groups"}, to_groups), entry("os.groups", {"os.files"}, to_files)])
    draft, result = work(text('users { name: "a" }'), {"os.files"}, table=table)
    assert result.refusals == []
    assert [(one.feature, list(one.into)) for one in draft.lowered] == [
        ("os.users", ["os.groups"]),
        ("os.groups", ["os.files"]),
    ]
    assert draft.passes == ["test.os.users", "test.os.groups"]


def test_a_table_that_is_no_dag_is_found_out() -> None:
    """Passes that feed each other end in a failure that says so, not in an endless loop."""
    table = PassTable([entry("os.users", {"os.groups"}, to_groups), entry("os.groups", {"os.users"}, to_users)])
    with pytest.raises(AssertionError, match="not a DAG"):
        work(text('users { name: "a" }'), {"os.files"}, table=table)


def test_an_item_that_a_pass_gives_up_leaves_no_trace() -> None:
    """The others are lowered once each, by that pass and by all others of the round, and the reason is passed on."""
    table = PassTable([entry("os.groups", {"os.files"}, give_up_on("b")), entry("os.users", {"os.files"}, to_files)])
    system = 'groups { name: "a" } groups { name: "b" } groups { name: "c" } users { name: "u" } users { name: "v" }'
    draft, result = work(text(system), {"os.files"}, table=table)
    assert [file.path for file in draft.bundle.os.files] == ["/a", "/c", "/u", "/v"]
    assert [one.field_path for one in draft.lowered] == ["os.groups[0]", "os.groups[2]", "os.users[0]", "os.users[1]"]
    assert result.refusals == [
        Refusal("os.groups", "os.groups[1]", result.refusals[0].origin, "no such thing here", "another name")
    ]
    assert result.refusals[0].origin.path == "spec.os.groups[1]"


def test_a_pass_sees_what_the_user_puts_at_a_path() -> None:
    """A file of the user's that is staged in the same round is not overwritten by a pass without a word."""
    system = (
        'systemd_units { name: "x.service" contents: "[Service]" } users { name: "a" }'
        'files { path: "/etc/systemd/system/x.service" owner: "a" }'
    )
    _, result = work(text(system), {"os.files", "plan.entrypoint"})
    assert [one.feature for one in result.refusals] == ["os.systemd.units"]


def test_only_so_many_items_stay_native_as_are_declared() -> None:
    """A bound on the number of items lowers those beyond it."""
    bundle = text('swaps { path: "/a" size_mib: 1 } swaps { path: "/b" size_mib: 1 }')
    target = clusterpb.Target(os_family=LINUX, distribution="debian")
    draft = Draft(written(bundle), ProfileTable.shipped().find(target), target)
    one = provisionerpb.FeatureSupport(id="os.storage.swap", max_items=1)
    assert legalise(draft, [one], table=all_passes()).refusals == []
    assert [swap.path for swap in draft.bundle.os.swaps] == ["/a"]


# The last act.


def steps_bundle(**properties: Any) -> bundlepb.BootstrapBundle:
    """Give a bundle with one step and one sysctl."""
    bundle = text('sysctls { name: "vm.swappiness" value: "1" }')
    bundle.id = "b"
    bundle.plan.steps.add(
        id="one", phase=planpb.PHASE_BOOTSTRAP, command=planpb.Command(argv=["true"], **properties)
    )
    return bundle


STEPS = {"os.files", "plan.entrypoint", "plan.steps", "plan.steps.command"}


def test_steps_stay_where_they_are_declared() -> None:
    """What was prepared comes before them, and no runner is sent."""
    draft, _ = work(steps_bundle(), STEPS)
    finish(draft, supports(STEPS))
    assert [step.id for step in draft.bundle.plan.steps] == ["70-sysctls", "one"]
    assert not draft.bundle.plan.HasField("entrypoint")
    assert [file.path for file in draft.bundle.os.files] == ["/etc/sysctl.d/99-zz-slipway.conf"]


def test_steps_that_ask_for_more_than_is_declared_are_run_by_the_runner() -> None:
    """A provisioner that knows steps but no retries is not refused: the runner knows them."""
    draft, _ = work(steps_bundle(retries=2), STEPS)
    finish(draft, supports(STEPS))
    assert not draft.bundle.plan.steps
    assert draft.bundle.plan.entrypoint.argv
    assert not unsupported(draft.bundle, supports(STEPS))


# Secrets, and sameness.

CANARY = b"canary-7d1f3c"


def holds_canary(message: bytes) -> bool:
    """Tell whether the canary is in a message, in any encoding in which a pass might splice it."""
    forms = [CANARY, CANARY.hex().encode(), *(base64.b64encode(b"x" * pad + CANARY)[4:-4] for pad in range(3))]
    return any(form in message for form in forms)


@pytest.mark.parametrize("distribution", ["debian", "windows"])
@given(system=systems())
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_pass_copies_a_secret(distribution: str, system: ospb.OperatingSystem) -> None:
    """Secrets are in the bundle while passes run; afterwards they are still only where they were."""
    bundle = bundlepb.BootstrapBundle(id="b", os=system)
    bundle.secrets.secrets.add(name="team-secret", key="value", value=CANARY)
    draft, result = work(bundle, {"os.files", "plan.entrypoint"}, distribution=distribution)
    finish(draft, SUPPORTS)
    assert holds_canary(draft.bundle.SerializeToString())
    draft.bundle.ClearField("secrets")
    assert not holds_canary(draft.bundle.SerializeToString())
    assert not holds_canary(str([*draft.lowered, *draft.passes, *result.refusals, *result.omitted]).encode())


def test_the_canary_is_seen_in_every_encoding() -> None:
    """The test above can fail."""
    for copy in (CANARY, base64.b64encode(b"ab" + CANARY + b"cd"), b"x" + CANARY.hex().encode()):
        content = contentpb.Content(segments=[contentpb.Segment(data=copy)])
        assert holds_canary(ospb.File(path="/f", content=content).SerializeToString())


def test_secret_references_survive() -> None:
    """What a file refers to is still a reference, with its encoding, when the file is staged."""
    reference = contentpb.Segment(encoding=contentpb.SPLICE_ENCODING_BASE64)
    reference.secret_ref.name, reference.secret_ref.key = "s", "k"
    file = ospb.File(path="/f", append=True, content=contentpb.Content(segments=[reference]))
    draft, _ = work(bundlepb.BootstrapBundle(id="b", os=ospb.OperatingSystem(files=[file])), {"os.files"})
    finish(draft, SUPPORTS)
    segments = [segment for made in draft.bundle.os.files for segment in made.content.segments]
    assert [segment for segment in segments if segment.HasField("secret_ref")] == [reference]


def test_the_same_bundle_is_lowered_to_the_same_bytes() -> None:
    """Neither order of declaration nor time nor chance changes a byte."""
    system = (
        'sysctls { name: "a.b" value: "1" } users { name: "ann" sudo: "ALL" } groups { name: "g" gid: 1 }'
        'ntp { servers: "a" } time_zone { name: "UTC" } hostname { name { value: "h" } } links {path: "/l" target: "x"}'
        'kernel_modules { name: "m" parameters: "a=1" } packages { install { name: "p" } }'
    )
    results = set()
    for declared in (["os.files", "plan.entrypoint"], ["plan.entrypoint", "os.files"]):
        bundle = text(system)
        bundle.id = "b"
        draft, result = work(bundle, declared)
        finish(draft, supports(declared))
        assert result.refusals == []
        results.add(draft.bundle.SerializeToString(deterministic=True))
    assert len(results) == 1
