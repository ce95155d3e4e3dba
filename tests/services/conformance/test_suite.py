"""The suite itself: its clauses, its verdicts, its list of known failures, its reports."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from google.protobuf.json_format import ParseDict

from slipway.conformance import cases, junit, user_files, verdict
from slipway.conformance.catalogue import all_checks
from slipway.conformance.check import Check, Need
from slipway.conformance.clauses import Level, chapters, clauses, groups, situations
from slipway.conformance.contract_features import known_ids
from slipway.conformance.decoders.sight import sees
from slipway.conformance.engine_cases import FAMILY, STRANGER, engine_cases
from slipway.conformance.options import Options
from slipway.conformance.outcome import Broken, NotRun, Unverified
from slipway.conformance.report import as_expected, as_json, as_yaml, report
from slipway.conformance.run import in_profile
from slipway.conformance.runner import Ending, Result, result, run
from slipway.conformance.v1alpha1 import report_pb2 as reportpb
from slipway.contract.control_characters import has_controls
from slipway.contract.feature_uses import uses
from slipway.contract.validation import violations
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.services.conformance.bent import Bent
from tests.services.conformance.mutants.control_plane import NewestTalos
from tests.services.conformance.runs import CHECKS, session

KEYWORDS = re.compile(r"\b(MUST NOT|MUST|SHOULD NOT|SHOULD|MAY)\b")


def test_every_clause_has_a_check_or_says_why_not() -> None:
    """A clause that nobody can check says so, and only such a clause does."""
    checked = {check.clause for check in all_checks()}
    assert checked <= set(clauses())
    for clause in clauses().values():
        assert (clause.id in checked) != bool(clause.untestable), clause.id


def test_clauses_are_written_in_the_words_of_rfc_2119() -> None:
    """Each says its level in its text, unless it tells what others do; ids are in groups and in order."""
    for group in groups():
        assert group.clauses
        assert [clause.id for clause in group.clauses] == [
            f"{group.id}-{n:03}" for n in range(1, len(group.clauses) + 1)
        ]
        for clause in group.clauses:
            assert clause.binds in ("provisioner", "the caller", "the registry", "the machine")
            said = set(KEYWORDS.findall(clause.text))
            # What only a machine shows is told as it is.
            if clause.binds == "provisioner" and group.id != "EXE":
                assert clause.level.value in {word.removesuffix(" NOT") for word in said}, clause.id
            # A clause that binds by MUST may advise besides; one that only advises must not bind.
            assert clause.level.value == "MUST" or not said & {"MUST", "MUST NOT"}, clause.id


def test_situations_point_at_clauses() -> None:
    """Twenty odd questions of an author, each with its answer and clauses that there are."""
    assert len(situations()) > 20
    for one in situations():
        assert one.when.endswith(".")
        assert one.answer
        assert set(one.clauses) <= set(clauses())


def test_ids_of_checks_are_unique() -> None:
    """A known failure names one check."""
    assert len(CHECKS) == len(all_checks())


def test_cases_are_for_clauses_that_there_are() -> None:
    """Every case names a clause, and its name is its own."""
    for name in ("answers", "features", "malformed"):
        found = cases.cases(name)
        assert {case.clause for case in found} <= set(clauses())
        assert len({(case.clause, case.name) for case in found}) == len(found)
        assert all(case.purpose for case in found)


def test_engines_are_tried_as_the_contract_and_the_format_have_them() -> None:
    """The options of each engine, and each family of control planes that the format declares, for both in one way."""
    support = provisionerpb.FeatureSupport(id=FAMILY, allowed_values=["raft"])
    tried = list(engine_cases(provisionerpb.FormatInfo(features=[support])))
    assert len({case.name for case in tried}) == len(tried)
    options = [use.id for case in tried for use in uses(case.bundle) if use.id.startswith("engine_options.")]
    assert options == ["engine_options.kubeadm", "engine_options.k0s"]
    assert {fault.path for case in tried for fault in violations(case.bundle)} <= {"id", "intent.cluster.name"}
    intents = [case.bundle.intent for case in tried if case.bundle.HasField("intent")]
    assert [intent.kubernetes.engine for intent in intents if intent.kubernetes.engine] == ["kubeadm", "k0s"]
    families = [intent.cluster.control_plane for intent in intents if intent.HasField("cluster")]
    assert families == ["raft", "kubeadm", "k0s", STRANGER]


@pytest.mark.parametrize("decoder", ["cloud-config", "ignition", "talos", "windows"])
def test_decoders_see_what_there_is(decoder: str) -> None:
    """A decoder claims features of the contract, and of the extensions of its own system."""
    assert {id_ for id_ in sees(decoder) if not id_.startswith("ext.")} <= known_ids()


def _wanted(*ids: str) -> list:
    return [CHECKS[id_] for id_ in ids]


async def test_a_report_says_what_holds_and_what_not() -> None:
    """Passed, failed, warned, not run and unverified are counted separately, and the verdict follows the MUSTs."""
    bent = Bent(
        provisioner=NewestTalos,
        info=lambda info, _: setattr(info, "name", "Not A Name") or setattr(info, "contract_version", ""),
    )
    async with session(bent) as found:
        checks = _wanted(
            "INF-001.name", "INF-002.version", "INF-003.contract", "TRN-006.plain-text", "RND-019.extended-items"
        )
        made = report(found, await run(found, checks))
    states = {finding.check: finding.state for finding in made.findings}
    assert states == {
        "INF-001.name": reportpb.FINDING_STATE_FAILED,
        "INF-003.contract": reportpb.FINDING_STATE_WARNED,
        "TRN-006.plain-text": reportpb.FINDING_STATE_NOT_RUN,
        "RND-019.extended-items": reportpb.FINDING_STATE_UNVERIFIED,
    }
    assert list(made.passed) == ["INF-002.version"]
    assert not made.conformant
    assert "does not keep" in verdict.as_text(made)
    assert "needs a connection with TLS" in verdict.as_text(made)


def test_a_report_does_nothing_to_a_terminal() -> None:
    """What a provisioner says of itself is escaped, and reads back as it is."""
    made = reportpb.Report()
    made.implementation.name = "a\x1b]0;t\x07\u202e\x9b"
    for text in (as_yaml(made), as_json(made)):
        assert not has_controls(text)
        assert ParseDict(yaml.safe_load(text), reportpb.Report()) == made


async def test_a_report_reads_back() -> None:
    """YAML in the proto-JSON form is the same message; JUnit has a case for each check."""
    async with session() as found:
        checks = _wanted("INF-001.name", "TRN-006.plain-text", "RND-018.core-items")
        made = report(found, await run(found, checks))
    assert ParseDict(yaml.safe_load(as_yaml(made)), reportpb.Report()) == made
    suite = ET.fromstring(junit.as_junit(made))
    assert {case.get("name") for case in suite} == {"INF-001.name", "TRN-006.plain-text", "RND-018.core-items"}
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    assert made.conformant
    assert list(made.profiles) == ["PLAN"]
    verified = {one.feature for one in made.formats[0].features if one.state == reportpb.FEATURE_STATE_VERIFIED}
    assert {"os.files", "plan.entrypoint"} <= verified


@pytest.mark.parametrize(
    ("profiles", "ids", "says"),
    [
        (("render",), {"INF", "FEA", "RND", "ERR", "LIM", "SEC", "EXE", "VER", "TRN"}, "the chapter Render of the"),
        (("process",), {"TRN", "LIM", "SEC"}, "the chapter Process of the"),
        (("process", "registration"), {"TRN", "LIM", "SEC", "REG"}, "the chapters Process and Registration of the"),
        ((), {"INF", "FEA", "RND", "ERR", "LIM", "SEC", "EXE", "VER", "TRN", "REG"}, "It keeps the contract v1alpha1"),
    ],
)
async def test_a_profile_is_a_chapter(profiles: tuple[str, ...], ids: set[str], says: str) -> None:
    """Only its checks are made, and the verdict is about it: the report names what was tried."""
    checks = [check for check in all_checks() if in_profile(check, Options(profiles=profiles))]
    assert {check.group for check in checks} == ids
    results = [Result(check, Ending.PASSED) for check in checks]
    async with session() as found:
        made = report(found, results)
    assert made.conformant
    assert list(made.chapters) == list(profiles or ("render", "process", "registration"))
    assert list(made.profiles) == (["PLAN"] if "render" in made.chapters else [])
    assert says in verdict.as_text(made)


def test_the_first_chapter_needs_two_calls() -> None:
    """Nothing of it needs certificates, a registry or a certain life; each clause is in one chapter that there is."""
    for check in all_checks():
        if check.chapter == "render" and check.needs and check.needs != {Need.BOOT}:
            # Two instances answer alike: a second one has to be started for that.
            assert check.needs == {Need.PROCESS}, check.id
            assert check.clause in {"INF-011", "RND-004"}
    assert {clause.chapter for clause in clauses().values()} == {chapter.id for chapter in chapters()}


async def test_a_known_failure_must_fail() -> None:
    """One that fails is expected, and still breaks the contract; one that passes is not expected."""
    bent = Bent(info=lambda info, _: setattr(info, "name", "Not A Name"))
    async with session(bent) as found:
        results = await run(found, _wanted("INF-001.name", "INF-002.version"))
        known = report(found, results, known={"INF-001.name"})
        fixed = report(found, results, known={"INF-001.name", "INF-002.version"})
        kept = report(found, results[1:], known={"INF-002.version"})
    assert as_expected(known)
    assert not known.conformant
    assert not known.profiles
    assert (known.summary.failed, known.summary.known_failures) == (0, 1)
    assert "does not keep the chapter Render of the contract" in verdict.as_text(known)
    assert "known to break, and nothing else" in verdict.as_text(known)
    known.ClearField("chapters")
    assert "It does not keep the contract" in verdict.as_text(known)
    assert not as_expected(fixed)
    assert not fixed.conformant
    assert kept.conformant
    assert not as_expected(kept)
    states = {finding.check: finding.state for finding in fixed.findings}
    assert states["INF-002.version"] == reportpb.FINDING_STATE_FIXED


@pytest.mark.parametrize(
    ("ends", "ending", "found", "reason"),
    [
        ([None, None], Ending.PASSED, (), "both formats"),
        ([None, NotRun("no bounds")], Ending.UNVERIFIED, ("b: no bounds",), "a format that nobody looked at is told"),
        ([NotRun("x"), NotRun("y")], Ending.NOT_RUN, ("a: x", "b: y"), "none"),
        ([Unverified("x"), NotRun("y")], Ending.UNVERIFIED, ("a: x", "b: y"), "each says why"),
        ([Broken("x"), NotRun("y")], Ending.FAILED, ("a: x",), "what is broken counts"),
        (
            [None, KeyError("a secret")],
            Ending.FAILED,
            ("b: the check could not be finished: KeyError",),
            "an exception is a failure of the check that raised it, without its text",
        ),
    ],
)
@pytest.mark.parametrize("clause", ["INF-001", "INF-003"])
async def test_a_check_of_two_formats(
    ends: list[Exception | None], ending: Ending, found: tuple[str, ...], reason: str, clause: str
) -> None:
    """No format hides another one, and no exception ends the run."""

    async def check_format(_: object, info: provisionerpb.FormatInfo) -> None:
        end = ends["ab".index(info.format)]
        if end is not None:
            raise end

    check = Check(clause, "made-up", frozenset(), run_format=check_format)
    async with session(Bent()) as opened:
        for name in "ab":
            opened.info.formats.add(format=name)
        del opened.info.formats[:-2]
        got = await result(opened, check)
    if clauses()[clause].level is Level.SHOULD and any(isinstance(one, Broken) for one in ends):
        ending = Ending.WARNED
    assert (got.ending, got.found) == (ending, found), reason


def test_the_list_of_known_failures(tmp_path: Path) -> None:
    """Comments and empty lines are skipped; an id that there is not is an error."""
    path = tmp_path / "known"
    path.write_text("# since 1.2\n\nINF-001.name  # to be renamed\n", encoding="utf-8")
    assert user_files.read_known_failures(path, CHECKS) == {"INF-001.name"}
    path.write_text("INF-999.nothing\n", encoding="utf-8")
    with pytest.raises(user_files.KnownFailuresError, match="INF-999"):
        user_files.read_known_failures(path, CHECKS)


async def test_whoever_declares_nothing_does_not_conform() -> None:
    """No features, no profile, no pass."""
    bent = Bent(info=lambda info, _: info.formats[0].ClearField("features"))
    async with session(bent) as found:
        made = report(found, await run(found, _wanted("FEA-001.core-profile", "INF-001.name")))
    assert not made.conformant
    assert list(made.profiles) == []


async def test_a_format_that_nobody_can_read_is_unverified() -> None:
    """No pass is claimed of what was not looked at."""
    bent = Bent(info=lambda info, _: setattr(info.formats[0], "format", "unheard-of"), before=_as_cloud_config)
    async with session(bent) as found:
        made = report(found, await run(found, _wanted("RND-018.core-items", "RND-019.extended-items")))
    assert {finding.state for finding in made.findings} == {reportpb.FINDING_STATE_UNVERIFIED}
    assert not made.passed
    assert reportpb.FEATURE_STATE_VERIFIED not in {one.state for one in made.formats[0].features}


async def _as_cloud_config(request: object, _context: object) -> None:
    request.format = "cloud-config"
