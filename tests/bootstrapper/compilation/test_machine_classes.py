"""The machines of a class are compiled once, and get the same as if each had been compiled by itself."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.compilation.compiler import Compiler
from slipway.bootstrapper.compilation.machine_classes import CheckedSubjects, CompiledClass
from slipway.bootstrapper.compilation.recently_used import RecentlyUsed
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.engines.kubeadm.engine import KubeadmEngine
from slipway.bootstrapper.engines.result import EngineResult
from slipway.bootstrapper.engines.table import EngineTable
from slipway.bootstrapper.preparer import utc_now
from slipway.contract.content import literal
from slipway.contract.errors import SlipwayError
from slipway.embedded.bootstrapper import compiler, embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper.asking import EXAMPLES, asked
from tests.bootstrapper.lowering.specs import systems

pytestmark = pytest.mark.long

PROVISIONERS = ("cloud-init", "ignition", "talos", "windows")
ONCE = 0
"""Bytes that keep nothing: each machine is compiled by itself."""


def _bootstrapper(kept: int | None = None) -> Bootstrapper:
    made = embedded_bootstrapper(store=EphemeralStore(SecretFactory(entropy=SystemEntropy(), clock=utc_now)))
    return made if kept is None else _apart(made, kept)


def _apart(bootstrapper: Bootstrapper, kept: int) -> Bootstrapper:
    """Give a bootstrapper with the same secrets that keeps so many bytes."""
    return replace(
        bootstrapper,
        compiler=replace(bootstrapper.compiler, classes=RecentlyUsed[CompiledClass](kept)),
        subjects=CheckedSubjects(kept),
    )


def _questions(path: Path) -> list[MachineQuestion]:
    texts = {path.name: path.read_text(encoding="utf-8")}
    return list(read_document_set(texts, variables={}, set_missing=True).questions)


def _requests(path: Path) -> Iterator[bootstrappb.GetUserDataRequest]:
    for question in _questions(path):
        for provisioner in PROVISIONERS:
            yield asked(question, provisioner)


def _twin(request: bootstrappb.GetUserDataRequest, number: int) -> bootstrappb.GetUserDataRequest:
    twin = bootstrappb.GetUserDataRequest()
    twin.CopyFrom(request)
    twin.subject.machine.name = f"twin-{number}"
    twin.subject.machine.uid = f"uid-{number}"
    return twin


async def _answer(bootstrapper: Bootstrapper, request: bootstrappb.GetUserDataRequest) -> bytes:
    """Give the whole answer, or the whole refusal."""
    try:
        return (await bootstrapper.user_data(request)).SerializeToString(deterministic=True)
    except SlipwayError as error:
        return repr((type(error), str(error), error.violations, error.metadata)).encode()


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
async def test_machines_of_a_class_get_what_each_would_get_alone(path: Path) -> None:
    """Every example for every provisioner: answers and refusals are the same, byte by byte."""
    shared = _bootstrapper()
    alone = _apart(shared, ONCE)
    for request in _requests(path):
        for number in range(2):
            twin = _twin(request, number)
            assert await _answer(shared, twin) == await _answer(alone, twin)
    assert len(alone.compiler.classes) == 0


@settings(max_examples=20)
@given(st.lists(systems(), min_size=1, max_size=2), st.sampled_from(PROVISIONERS[:2]))
async def test_the_same_for_systems_made_up(made: list[ospb.OperatingSystem], provisioner: str) -> None:
    """Whatever a spec can say, and however classes and machines come in turn."""
    shared = _bootstrapper()
    alone = _apart(shared, ONCE)
    for number in range(2):
        for system in made:
            request = bootstrappb.GetUserDataRequest(accept_attachments=True)
            request.subject.MergeFrom(_subject())
            request.subject.spec.os.CopyFrom(system)
            request.subject.spec.provisioner.name = provisioner
            twin = _twin(request, number)
            assert await _answer(shared, twin) == await _answer(alone, twin)


async def test_only_the_first_of_a_class_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Further ones ask the engine for nothing; another spec, version or cluster is another class."""
    plans = []
    real = KubeadmEngine.build_plan

    def counted(
        self: KubeadmEngine, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo
    ) -> EngineResult:
        plans.append(bundle.machine.name)
        return real(self, bundle, served)

    monkeypatch.setattr(KubeadmEngine, "build_plan", counted)
    shared = _bootstrapper()
    request = _request()
    for number in range(4):
        await shared.user_data(_twin(request, number))
    assert plans == [""]
    request.subject.spec.os.time_zone.name = "Europe/Berlin"
    await shared.user_data(_twin(request, 9))
    request.subject.machine.kubernetes_version = "v1.33.1"
    await shared.user_data(_twin(request, 9))
    request.subject.cluster.endpoint.port = 443
    await shared.user_data(_twin(request, 9))
    request.subject.spec.optional_features.append("os.swap")
    await shared.user_data(_twin(request, 9))
    assert plans == [""] * 5


async def test_an_engine_may_ask_for_each_machine() -> None:
    """One that does not say that it plans by class sees every machine with its name."""

    class Naming(KubeadmEngine):
        plans_by_class = False

        def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
            result = super().build_plan(bundle, served)
            file = ospb.File(
                path="/etc/name", content=literal(bundle.machine.name.encode()), owner="root", group="root", mode=0o644
            )
            return replace(result, files=(*result.files, file))

    naming = replace(compiler(), engines=EngineTable([Naming()]))
    shared = replace(_bootstrapper(), compiler=naming)
    for number in range(2):
        answer = await shared.user_data(_twin(_request(), number))
        assert f"twin-{number}".encode() in answer.user_data


async def test_a_format_that_changes_makes_another_class() -> None:
    """What a provisioner declares is part of the key: its next version is asked anew."""
    made = compiler()
    neutral = bundlepb.BootstrapBundle(id="0" * 16)
    neutral.machine.MergeFrom(_subject().machine)
    neutral.machine.target.os_family = clusterpb.OS_FAMILY_LINUX
    neutral.machine.target.distribution = "debian"
    neutral.os.links.add(path="/a", target="b").origin.path = "spec.os.links[0]"
    neutral.plan.entrypoint.argv.append("/bin/true")
    info = provisionerpb.FormatInfo(format="f", kubernetes_input=provisionerpb.KUBERNETES_INPUT_PLAN)
    for feature in ("os.files", "plan.entrypoint", "os.links"):
        info.features.add(id=feature)
    assert not made.compile(neutral, info).refusals
    assert list(made.compile(neutral, info).bundle.os.links)
    del info.features[2]
    assert not list(made.compile(neutral, info).bundle.os.links)


async def test_no_secret_is_kept() -> None:
    """Neither those of the cluster, nor the caller's, nor what a spec has in place."""
    shared = _bootstrapper()
    request = _request()
    request.subject.spec.os.files.add(path="/etc/t", mode=0o600).content.segments.add().secret_ref.MergeFrom(
        secretpb.SecretReference(name="team", key="t")
    )
    request.credentials.secrets.add(name="team", key="t", kind=secretpb.SECRET_KIND_OPAQUE, value=b"canary-of-the-team")
    await shared.user_data(_twin(request, 0))
    assert len(shared.compiler.classes) == 1
    password = request.subject.spec.os.users.add(name="ann").password_hash
    password.value = "$6$canaryinplace$" + "a" * 86
    answer = await shared.user_data(_twin(request, 1))
    assert b"canaryinplace" in answer.user_data
    kept = b"".join(_kept(shared.compiler))
    assert b"/etc/t" in kept
    for secret in (b"canary-of-the-team", b"canaryinplace", b"PRIVATE KEY", b"twin-0", b"uid-0"):
        assert secret not in kept
    assert [b"canary" in subject.spec.SerializeToString() for subject in _subjects(shared)] == [False]


def test_members_of_a_domain_are_checked_each() -> None:
    """The account of one machine is never that of another one of its class."""
    request = _request()
    membership = request.subject.spec.os.directory
    membership.domain, membership.method = "corp.example.com", ospb.DIRECTORY_JOIN_METHOD_ONE_TIME_PASSWORD
    subjects = CheckedSubjects()
    for number in range(2):
        checked = subjects.check(_twin(request, number).subject).spec.os.directory
        assert (checked.computer_name, checked.secret_ref.name) == (f"TWIN-{number}", f"twin-{number}-directory")


def test_what_was_used_last_is_kept() -> None:
    """As much as fits; what is too large alone takes no other's place."""
    kept = RecentlyUsed[str](10)
    kept.put(b"a", "a", 4)
    kept.put(b"b", "b", 4)
    assert kept.get(b"a") == "a"
    kept.put(b"c", "c", 4)
    assert [kept.get(key) for key in (b"a", b"b", b"c")] == ["a", None, "c"]
    kept.put(b"d", "d", 11)
    assert [kept.get(key) for key in (b"a", b"c", b"d")] == ["a", "c", None]
    kept.put(b"a", "A", 9)
    assert [kept.get(key) for key in (b"a", b"c")] == ["A", None]
    assert len(kept) == 1


def _subject() -> bootstrappb.Subject:
    subject = bootstrappb.Subject()
    subject.MergeFrom(_request().subject)
    subject.spec.ClearField("os")
    return subject


def _request() -> bootstrappb.GetUserDataRequest:
    path = next(path for path in EXAMPLES if path.stem == "native")
    return asked(_questions(path)[-1], "cloud-init")


def _kept(made: Compiler) -> Iterator[bytes]:
    for compiled, _ in made.classes._kept.values():  # what is in memory is what is asked
        draft = compiled.draft
        messages: list[Message] = [draft.bundle, compiled.features, *draft.lowered, *compiled.diagnostics]
        messages += [staged.entry for staged in draft.staged]
        messages += [prepared.command for prepared in draft.prepared]
        yield from (message.SerializeToString() for message in messages)


def _subjects(made: Bootstrapper) -> list[bootstrappb.Subject]:
    known = made.subjects._kept._kept.values()  # as above
    return [bootstrappb.Subject(spec=checked.spec, machine=checked.machine) for checked, _ in known]
