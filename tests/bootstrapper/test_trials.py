"""Others are tried where something is refused, and only there: a trial is as dear as a render."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from slipway.bootstrapper import judgement
from slipway.bootstrapper.assembly.subject import check
from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.compilation.compiler import Compiler
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.engines.kubeadm.engine import KubeadmEngine
from slipway.bootstrapper.engines.result import EngineResult
from slipway.bootstrapper.engines.table import EngineTable
from slipway.bootstrapper.judgement import judge
from slipway.bootstrapper.lowering.table import all_passes
from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.bootstrapper.trials import Trials
from slipway.contract.errors import UnsupportedFeature
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.embedded.provisioners import EmbeddedProvisioners
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.provisioners.ignition.render import IgnitionProvisioner
from slipway.provisioners.talos.provisioner import TalosProvisioner
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from tests.bootstrapper.asking import asked, question


class _Provisioners(EmbeddedProvisioners):
    """Our own for Linux, and what they were asked: the format, and whether to check only."""

    def __init__(self) -> None:
        super().__init__([CloudInit(), IgnitionProvisioner(), TalosProvisioner()])
        self.asked: list[tuple[str, bool]] = []
        self.got: list[provisionerpb.RenderRequest] = []
        self.fault: Callable[[str], Awaitable[None]] | None = None

    async def render(
        self,
        instance: registrypb.ProvisionerInstance,
        request: provisionerpb.RenderRequest,
        *,
        timeout: float,
    ) -> provisionerpb.RenderResponse:
        """Note the question, and answer."""
        self.asked.append((request.format, request.validate_only))
        self.got.append(request)
        if self.fault is not None:
            await self.fault(request.format)
        return await super().render(instance, request, timeout=timeout)


class _Engine(KubeadmEngine):
    """The engine, and how often it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Count, and answer."""
        self.asked += 1
        return super().build_plan(bundle, served)


def counted() -> tuple[Bootstrapper, _Provisioners, _Engine]:
    """Give a bootstrapper that counts."""
    provisioners, engine = _Provisioners(), _Engine()
    compiler = Compiler(engines=EngineTable([engine]), profiles=ProfileTable.shipped(), passes=all_passes())
    bootstrapper = replace(
        embedded_bootstrapper(store=PlaceholderStore()), provisioners=provisioners, compiler=compiler
    )
    return bootstrapper, provisioners, engine


async def test_nobody_is_tried_where_nothing_is_refused() -> None:
    """One plan, one call of Render, by the one that was chosen: also where things were lowered on the way."""
    bootstrapper, provisioners, engine = counted()
    one = question('{os: {sysctls: [{name: a.b, value: c}], files: [{path: /etc/a, content: {text: ""}}]}}')
    await bootstrapper.user_data(asked(one, "cloud-init"))
    assert provisioners.asked == [("cloud-config", False)]
    assert engine.asked == 1


async def test_others_are_tried_where_something_is_refused() -> None:
    """To check only; the test above can fail."""
    bootstrapper, provisioners, engine = counted()
    with pytest.raises(UnsupportedFeature):
        await bootstrapper.user_data(asked(question("{os: {kernelArguments: [{argument: a}]}}"), "cloud-init"))
    assert ("ignition/3.4.0", True) in provisioners.asked or ("ignition/3.3.0", True) in provisioners.asked
    assert not [one for one in provisioners.asked if not one[1]]
    assert engine.asked > 1


async def test_formats_share_the_neutral_bundle() -> None:
    """Where target and declared secrets are the same; it stays as it is, whatever is made of it."""
    bootstrapper, _, _ = counted()
    one = question("{os: {sysctls: [{name: a.b, value: c}], kernelArguments: [{argument: a}]}}")
    trials = Trials(bootstrapper, check(one.subject))
    ignition = [each for each in bootstrapper.candidates() if each.name == "ignition"]
    first, _ = await trials.neutral(ignition[0])
    before = first.SerializeToString(deterministic=True)
    for candidate in bootstrapper.candidates():
        await judge(bootstrapper, await trials.prepared(candidate), validate_only=False)
    assert (await trials.neutral(ignition[-1]))[0] is first
    assert (await trials.neutral(None))[0] is not first
    assert first.SerializeToString(deterministic=True) == before


REFUSED = "{target: {distribution: debian}, os: {kernelArguments: [{argument: a}], containerd: %s}}"
REGISTRY = "{registries: [{host: r.example.com, credentials: {username: u, password: {value: canary-inline-7}}}]}"


async def test_who_was_not_chosen_gets_no_secret_of_the_spec() -> None:
    """A password that is written into the spec itself is a placeholder for them, of its length."""
    bootstrapper, provisioners, _ = counted()
    with pytest.raises(UnsupportedFeature):
        await bootstrapper.user_data(asked(question(REFUSED % REGISTRY), "cloud-init"))
    others = [one for one in provisioners.got if one.format != "cloud-config"]
    assert others
    assert not [other.format for other in others if b"canary-inline-7" in other.SerializeToString()]
    assert any(len(each.value) == len("canary-inline-7") for other in others for each in other.bundle.secrets.secrets)


async def test_a_fault_of_another_does_not_spoil_the_answer() -> None:
    """Whatever goes wrong with who is only looked at: the refusal is the refusal."""
    bootstrapper, provisioners, _ = counted()

    async def broken(format_id: str) -> None:
        if format_id != "cloud-config":
            raise ValueError("without TLS only this machine may be called")

    provisioners.fault = broken
    with pytest.raises(UnsupportedFeature) as caught:
        await bootstrapper.user_data(asked(question(REFUSED % "{}"), "cloud-init"))
    assert [violation.path for violation in caught.value.violations] == ["SlipwayConfig/k: spec.os.kernelArguments[0]"]
    assert len(provisioners.asked) > 1


async def test_a_refusal_waits_for_the_chosen_one_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that it might add has one bound, however many of its instances hang."""
    monkeypatch.setattr(judgement, "TRIAL_TIMEOUT", 0.2)
    bootstrapper, provisioners, _ = counted()

    async def hanging(format_id: str) -> None:
        if format_id == "cloud-config":
            await asyncio.sleep(3600)

    provisioners.fault = hanging
    async with asyncio.timeout(30):
        with pytest.raises(UnsupportedFeature):
            await bootstrapper.user_data(asked(question(REFUSED % "{}"), "cloud-init"))
