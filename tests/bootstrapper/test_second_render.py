"""A provisioner declares a feature and refuses an item of it: that item is lowered, and it is asked once more."""

from collections.abc import Callable, Sequence

import pytest
from google.protobuf import text_format

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.bundles import give_bundle
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.explanation import explain
from slipway.contract.errors import UnsupportedFeature
from slipway.contract.items import items
from slipway.embedded.bootstrapper import compiler
from slipway.embedded.provisioners import EmbeddedProvisioners
from slipway.sdk import RenderContext, UserData
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

Refuse = Callable[[bundlepb.BootstrapBundle, RenderContext], None]

SUBJECT = """
spec {
  target { os_family: OS_FAMILY_LINUX distribution: "debian" os_version: "13" infrastructure: "metal" }
  os {
    files { path: "/etc/first" content { text: "1" } origin { document: "SlipwayConfig/x" path: "spec.os.files[0]" } }
    files { path: "/etc/second" content { text: "2" } origin { document: "SlipwayConfig/x" path: "spec.os.files[1]" } }
    links { path: "/etc/link" target: "first" origin { document: "SlipwayConfig/x" path: "spec.os.links[0]" } }
    kernel_arguments { argument: "b" origin { document: "SlipwayConfig/x" path: "spec.os.kernel_arguments[0]" } }
  }
}
cluster { name: "c" kubernetes_version: "v1.34.2" endpoint { host: "h" port: 6443 } }
machine { name: "m" role: ROLE_WORKER }
"""


class Fussy:
    """Takes files, links and kernel arguments, and refuses what a test tells it to."""

    name = "fussy"
    version = "1.0.0"
    documentation_url = ""

    def __init__(self, refuse: Refuse) -> None:
        self.refuse = refuse
        self.asked: list[bundlepb.BootstrapBundle] = []

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        """Give the one format."""
        ids = ["os.files", "os.links", "os.kernel.arguments", "plan.entrypoint"]
        return [
            provisionerpb.FormatInfo(
                format="fussy",
                kubernetes_input=provisionerpb.KUBERNETES_INPUT_PLAN,
                features=[provisionerpb.FeatureSupport(id=id_) for id_ in ids],
                os_families=[clusterpb.OS_FAMILY_LINUX],
                default_target=clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX, distribution="debian"),
            )
        ]

    def render(self, bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        """Say what it was asked, and refuse."""
        self.asked.append(bundle)
        self.refuse(bundle, ctx)
        return UserData(b"fine")


def made(refuse: Refuse) -> tuple[Bootstrapper, Fussy]:
    """Give a bootstrapper with such a provisioner."""
    fussy = Fussy(refuse)
    return Bootstrapper(EmbeddedProvisioners([fussy]), compiler(), version="0.0.0", store=PlaceholderStore()), fussy


def subject(*, arguments: bool = False) -> bootstrappb.Subject:
    """Give the machine."""
    one = text_format.Parse(SUBJECT, bootstrappb.Subject())
    if not arguments:
        one.spec.os.ClearField("kernel_arguments")
    return one


def no_links(bundle: bundlepb.BootstrapBundle, ctx: RenderContext) -> None:
    """Refuse every link."""
    for index, _ in enumerate(bundle.os.links):
        ctx.refuse(f"os.links[{index}]", "os.links", "not today")


async def test_the_item_is_lowered_and_the_provisioner_asked_once_more() -> None:
    """Nothing but the refused item is lowered, and the answer tells of it."""
    bootstrapper, fussy = made(no_links)
    answer = await bootstrapper.user_data(bootstrappb.GetUserDataRequest(subject=subject()))
    assert answer.user_data == b"fine"
    assert len(fussy.asked) == 2
    assert {one.feature for one in answer.lowered} == {"os.links", "plan.steps"}
    assert not fussy.asked[1].os.links
    assert [file.path for file in fussy.asked[1].os.files][:2] == ["/etc/first", "/etc/second"]
    assert "linux.links" in fussy.asked[1].provenance.passes


async def test_explain_and_the_bundle_show_what_happens() -> None:
    """Both ask the provisioner, too: what it refuses is shown as lowered, and the bundle is the one that is sent."""
    bootstrapper, fussy = made(no_links)
    told = await explain(bootstrapper, bootstrappb.ExplainRequest(subject=subject()))
    (column,) = told.columns
    assert (column.renderable, column.refusal) == (True, "")
    verdicts = {row.feature: row.cells[0].verdict for row in told.rows}
    assert verdicts["os.links"] == bootstrappb.VERDICT_LOWERED
    assert verdicts["os.files"] == bootstrappb.VERDICT_NATIVE
    request = bootstrappb.GetBundleRequest(subject=subject(), lowered=True)
    shown = (await give_bundle(bootstrapper, request, identity="")).bundle
    assert not shown.os.links
    assert [item.path for item in items(shown)] == [item.path for item in items(fussy.asked[-1])]


async def test_what_can_not_be_lowered_is_refused_in_its_words() -> None:
    """The error names the field as the user wrote it, says what the provisioner said, and what to do."""

    def no_arguments(bundle: bundlepb.BootstrapBundle, ctx: RenderContext) -> None:
        ctx.refuse("os.kernel_arguments[0]", "os.kernel.arguments", "has no effect")

    bootstrapper, fussy = made(no_arguments)
    with pytest.raises(UnsupportedFeature) as caught:
        await bootstrapper.user_data(bootstrappb.GetUserDataRequest(subject=subject(arguments=True)))
    (violation,) = caught.value.violations
    assert violation.path == "SlipwayConfig/x: spec.os.kernel_arguments[0]"
    assert "has no effect" in violation.description
    assert violation.remedy
    assert len(fussy.asked) == 1
    told = await explain(bootstrapper, bootstrappb.ExplainRequest(subject=subject(arguments=True)))
    (row,) = [row for row in told.rows if row.feature == "os.kernel.arguments"]
    assert row.cells[0].verdict == bootstrappb.VERDICT_REFUSED
    assert "has no effect" in row.cells[0].reason


async def test_it_is_not_asked_a_third_time() -> None:
    """A provisioner that refuses again is not run after: the error names the user's field, not the bundle's."""

    def never_second(bundle: bundlepb.BootstrapBundle, ctx: RenderContext) -> None:
        index = next(index for index, file in enumerate(bundle.os.files) if file.path.endswith(("first", "second")))
        ctx.refuse(f"os.files[{index}]", "os.files", "no")

    bootstrapper, fussy = made(never_second)
    with pytest.raises(UnsupportedFeature) as caught:
        await bootstrapper.user_data(bootstrappb.GetUserDataRequest(subject=subject()))
    assert len(fussy.asked) == 2
    assert [violation.path for violation in caught.value.violations] == ["SlipwayConfig/x: spec.os.files[1]"]


async def test_optional_items_that_it_refuses_are_left_out() -> None:
    """Optional means the same whoever finds out that it cannot be done."""

    def no_arguments(bundle: bundlepb.BootstrapBundle, ctx: RenderContext) -> None:
        if bundle.os.kernel_arguments:
            ctx.refuse("os.kernel_arguments[0]", "os.kernel.arguments", "has no effect")

    bootstrapper, _ = made(no_arguments)
    one = subject(arguments=True)
    one.spec.optional_features.append("os.kernel.arguments")
    answer = await bootstrapper.user_data(bootstrappb.GetUserDataRequest(subject=one))
    (warning,) = [each for each in answer.diagnostics if each.code == "OPTIONAL_FEATURE_OMITTED"]
    assert warning.origin.path == "spec.os.kernel_arguments[0]"
