"""INF: what a provisioner says of itself.

The patterns are those of the clauses. They are written here a second time on purpose: the registry has its own, and a
suite that shares them with what it tests finds no error in them.
"""

import re

from slipway.conformance.check import Checks, Need
from slipway.conformance.contract_features import known_ids
from slipway.conformance.outcome import all_hold, expect
from slipway.conformance.requests import INTENT, PLAN
from slipway.conformance.session import Session
from slipway.conformance.subject import INFO_SECONDS
from slipway.conformance.yardstick import judge
from slipway.contract.validation import violations
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb

CHECKS = Checks()
MOST_NAME, MOST_BYTES, MOST_PROFILES = 63, 64 * 1024, 8
TIMES = 10
_LABEL = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NUMBER = r"(?:0|[1-9][0-9]*)"
_WORD = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_WORD}(?:\.{_WORD})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_FORMAT = re.compile(r"[a-z0-9][a-z0-9.-]*(?:/[A-Za-z0-9.-]+)?")
_FEATURE = re.compile(r"[a-z][a-z0-9]*(?:[._/-][a-z0-9]+)*")
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+(?:; ?[a-z0-9-]+=[A-Za-z0-9._-]+)?")
_SUFFIX = re.compile(r"[A-Za-z0-9]{1,16}(?:\.[A-Za-z0-9]{1,16})?")
_TOKEN = re.compile(r"[a-z0-9][a-z0-9.-]*")


@CHECKS.check("INF-001")
async def name(session: Session) -> None:
    """Its name is a DNS name."""
    said = session.info.name
    expect(len(said) <= MOST_NAME and _NAME.fullmatch(said), "`name` is no DNS label or subdomain of 63 characters")


@CHECKS.check("INF-002")
async def version(session: Session) -> None:
    """Its version is a semantic version."""
    expect(_VERSION.fullmatch(session.info.implementation_version), "`implementation_version` is no semantic version")


@CHECKS.check("INF-003")
async def contract(session: Session) -> None:
    """It says which contract it was built with."""
    expect(session.info.contract_version == "v1alpha1", "`contract_version` is not v1alpha1")


@CHECKS.check("INF-004")
async def advertised(session: Session) -> None:
    """An empty list of features means none."""
    expect(session.info.features_advertised, "`features_advertised` is not set")


@CHECKS.check("INF-005")
async def formats(session: Session) -> None:
    """It has formats, each once."""
    ids = [info.format for info in session.info.formats]
    expect(ids, "`formats` is empty")
    expect(len(set(ids)) == len(ids), "`formats` holds an id twice")


@CHECKS.check_format("INF-006")
async def format_id(_session: Session, info: provisionerpb.FormatInfo) -> None:
    """The id of a format is well-formed."""
    expect(_FORMAT.fullmatch(info.format), "`format` is no format id")


@CHECKS.check_format("INF-007")
async def kubernetes_input(_session: Session, info: provisionerpb.FormatInfo) -> None:
    """It takes a plan or an intent."""
    expect(info.kubernetes_input in (PLAN, INTENT), "`kubernetes_input` is neither PLAN nor INTENT")


@CHECKS.check_format("INF-008")
async def os_families(_session: Session, info: provisionerpb.FormatInfo) -> None:
    """It serves some family of operating systems."""
    known = {clusterpb.OS_FAMILY_LINUX, clusterpb.OS_FAMILY_WINDOWS}
    expect(info.os_families and known >= set(info.os_families), "`os_families` is empty or holds no family")


@CHECKS.check_format("INF-009")
async def feature_ids(_session: Session, info: provisionerpb.FormatInfo) -> None:
    """Ids of features are well-formed and said once."""
    ids = [support.id for support in info.features]
    problems = [f"feature {number} has a malformed id" for number, id_ in enumerate(ids) if not _FEATURE.fullmatch(id_)]
    if len(set(ids)) != len(ids):
        problems.append("a feature is declared twice")
    all_hold(problems)


@CHECKS.check_format("INF-010")
async def known_features(_session: Session, info: provisionerpb.FormatInfo) -> None:
    """Ids without a domain are the contract's."""
    strange = [
        support.id for support in info.features if support.id not in known_ids() and not support.id.startswith("ext.")
    ]
    all_hold([f"{id_} is no feature of the contract: it is never asked for" for id_ in strange])


@CHECKS.check("INF-011")
async def always_equal(session: Session) -> None:
    """The same answer, every time."""
    for _ in range(TIMES):
        got = await session.subject.info()
        expect(got.ok and got.response == session.info, "two calls of GetProvisionerInfo gave different answers")


@CHECKS.check("INF-011")
async def whoever_asks(session: Session) -> None:
    """The same answer, whatever contract the caller was built with."""
    for said in ("", "v1", "v99beta7"):
        got = await session.subject.info(said)
        expect(got.ok and got.response == session.info, "the answer depends on the caller's `contract_version`")


@CHECKS.check("INF-011", Need.PROCESS, slow=True)
async def every_instance(session: Session) -> None:
    """The same answer from another instance."""
    async with session.process() as (_, subject):
        got = await subject.info()
        expect(got.ok and got.response == session.info, "two instances of the same version gave different answers")


@CHECKS.check("INF-012")
async def size(session: Session) -> None:
    """The answer is not too large for the registry."""
    expect(session.info.ByteSize() <= MOST_BYTES, f"the answer has more than {MOST_BYTES} bytes")


@CHECKS.check_format("INF-013")
async def default_target(_session: Session, info: provisionerpb.FormatInfo) -> None:
    """The default target is one that the format serves."""
    family = info.default_target.os_family
    fits = not info.default_target.HasField("os_family") or family in info.os_families
    expect(fits, "`default_target.os_family` is not in `os_families`")


@CHECKS.check_format("INF-014")
async def words(_session: Session, info: provisionerpb.FormatInfo) -> None:
    """What callers make headers and file names of is well-formed."""
    rules = {
        "media_type": _MEDIA_TYPE.fullmatch,
        "file_extension": _SUFFIX.fullmatch,
        "secret_format": _TOKEN.fullmatch,
    }
    all_hold(
        [
            f"`{field}` is malformed"
            for field, matches in rules.items()
            if getattr(info, field) and not matches(getattr(info, field))
        ]
    )


@CHECKS.check_format("INF-015")
async def declared_secrets(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Declared secrets lie under the provisioner's own domain."""
    domain = session.info.name if "." in session.info.name else f"{session.info.name}.slipway.dev"
    problems = []
    for number, secret in enumerate(info.secrets):
        prefix, slash, rest = secret.name.partition("/")
        if prefix != domain or not slash or not rest or "/" in rest:
            problems.append(f"`secrets[{number}].name` is not {domain}/ and a word")
        if secret.kind in (secretpb.SECRET_KIND_UNSPECIFIED, secretpb.SECRET_KIND_OPAQUE):
            problems.append(f"`secrets[{number}].kind` is not said, or OPAQUE")
        roles = {*secret.full_roles, *secret.public_roles}
        if not roles or not roles <= {"ROLE_INIT", "ROLE_CONTROL_PLANE", "ROLE_WORKER"}:
            problems.append(f"`secrets[{number}]` has no roles, or others than those of the enum Role")
    all_hold(problems)


@CHECKS.check_format("INF-017")
async def os_profiles(_session: Session, info: provisionerpb.FormatInfo) -> None:
    """What it says of operating systems is well-formed, and said once."""
    expect(len(info.os_profiles) <= MOST_PROFILES, f"it has more than {MOST_PROFILES} OS profiles")
    problems = []
    for number, profile in enumerate(info.os_profiles):
        where = f"os_profiles[{number}]"
        problems += [f"`{broken.path}` {broken.description}" for broken in violations(profile, path=where)]
        if profile.os_family not in info.os_families:
            problems.append(f"`{where}.os_family` is not in `os_families`")
        if profile.versions and profile.default_version not in {version.version for version in profile.versions}:
            problems.append(f"`{where}.default_version` is not in `versions`")
    if len({profile.distribution for profile in info.os_profiles}) < len(info.os_profiles):
        problems.append("a distribution has two OS profiles")
    all_hold(problems)


@CHECKS.check("INF-016")
async def in_time(session: Session) -> None:
    """It answers in time."""
    got = await session.subject.info()
    text = f"GetProvisionerInfo took longer than {INFO_SECONDS:.0f} seconds"
    judge(text, got.seconds, INFO_SECONDS, slow=session.heartbeat.slowness)
