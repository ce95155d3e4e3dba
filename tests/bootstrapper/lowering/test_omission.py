"""What nobody can honour and the spec says may be left out is left out, with a word."""

from itertools import permutations

from slipway.bootstrapper.lowering.omission import take_all_out
from slipway.bootstrapper.lowering.passes import PassTable
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.lowering.legalising import EVERYTHING_BUT, Format, text, work


def test_optional_items_are_left_out_with_a_word() -> None:
    """What can be neither taken nor lowered goes when it is optional; what can be lowered is lowered all the same."""
    bundle = text('kernel_arguments { argument: "a" } sysctls { name: "vm.swappiness" value: "1" }')
    draft, result = work(
        bundle, Format({"plan.entrypoint", "os.files"}, optional={"os.kernel.arguments", "os.sysctls"})
    )
    assert result.refusals == []
    assert [(problem.feature, problem.origin.path) for problem in result.omitted] == [
        ("os.kernel.arguments", "spec.os.kernel_arguments[0]")
    ]
    assert [lowered_feature.feature for lowered_feature in draft.lowered] == ["os.sysctls"]
    assert not draft.bundle.os.kernel_arguments


def test_an_optional_extension_is_left_out() -> None:
    """That is how one spec serves several first-boot systems, each with its own extension."""
    extensions = [specpb.Extension(id="one.example.com/x"), specpb.Extension(id="two.example.com/y")]
    bundle = bundlepb.BootstrapBundle(extensions=extensions)
    draft, result = work(
        bundle, Format({"ext.two.example.com/y"}, optional={"ext.one.example.com/x", "ext.two.example.com/y"})
    )
    assert result.refusals == []
    assert [problem.feature for problem in result.omitted] == ["ext.one.example.com/x"]
    assert [extension.id for extension in draft.bundle.extensions] == ["two.example.com/y"]


def test_a_single_optional_field_is_left_out_of_its_item() -> None:
    """The item itself stays native when only an optional property of it cannot be honoured, in every entry."""
    system = 'filesystems { device: "/dev/a" format: "ext4" options: "-q" options: "-F" label: "x" }'
    declares = EVERYTHING_BUT | {"os.storage.filesystems.label"}
    draft, result = work(text(system), Format(declares, "windows", optional={"os.storage.filesystems.options"}))
    assert result.refusals == []
    assert [problem.path for problem in result.omitted] == [
        "os.filesystems[0].options[0]",
        "os.filesystems[0].options[1]",
    ]
    (filesystem,) = draft.bundle.os.filesystems
    assert (filesystem.label, list(filesystem.options)) == ("x", [])


def test_an_item_with_a_further_unsupported_field_is_refused_as_a_whole() -> None:
    """Optional fields do not save an item that asks for something else that nobody can honour."""
    system = 'filesystems { device: "/dev/a" format: "ext4" options: "-q" label: "x" }'
    draft, result = work(text(system), Format(EVERYTHING_BUT, "windows", optional={"os.storage.filesystems.options"}))
    assert [(refusal.feature, refusal.remedy) for refusal in result.refusals] == [
        ("os.storage.filesystems", "leave out label")
    ]
    assert result.omitted == []
    assert not draft.bundle.os.filesystems


def test_optional_parts_of_an_intent_are_left_out_and_facts_never() -> None:
    """A part of the Kubernetes spec may be optional; the role of the machine is not the spec's to drop."""
    bundle = bundlepb.BootstrapBundle()
    bundle.intent.role = clusterpb.ROLE_WORKER
    bundle.intent.kubernetes.images.repository = "example.com"
    bundle.intent.kubernetes.static_pods.add(name="a")
    optional = {"kubernetes.images", "kubernetes.images.repository", "kubernetes.static_pods"}
    optional.add("kubernetes.role.worker")
    draft, result = work(bundle, Format({"kubernetes.role"}, table=PassTable(()), optional=optional))
    assert {omitted.feature for omitted in result.omitted} >= {"kubernetes.images", "kubernetes.static_pods"}
    assert [refusal.feature for refusal in result.refusals] == ["kubernetes.role.worker"]
    assert not draft.bundle.intent.kubernetes.HasField("images")
    assert not draft.bundle.intent.kubernetes.static_pods
    assert draft.bundle.intent.role == clusterpb.ROLE_WORKER


def test_fields_are_taken_out_in_whatever_order_they_are_named() -> None:
    """Each once: in the place of an entry that is gone stands the next, and that one was not named."""
    three = 'sudo: "one" sudo: "two" sudo: "three"'
    paths = ("users[0].sudo[1]", "users[0].sudo[0]", "users[1]", "users[1].sudo[0]", "users[1]")
    for named in permutations(paths):
        system = text(
            f'users {{ name: "a" {three} }} users {{ name: "b" sudo: "x" }} users {{ name: "c" sudo: "y" }}'
        ).os
        take_all_out(system, named)
        assert [(user.name, list(user.sudo)) for user in system.users] == [("a", ["three"]), ("c", ["y"])], named


def test_the_eleventh_entry_is_after_the_second() -> None:
    """Numbers count as numbers: by their digits 10 would come before 2."""
    system = text('users { name: "a" ' + " ".join(f'sudo: "{number}"' for number in range(12)) + " }").os
    take_all_out(system, ["users[0].sudo[2]", "users[0].sudo[10]"])
    assert list(system.users[0].sudo) == [str(number) for number in range(12) if number not in {2, 10}]
