"""When certificates are issued, and that nobody meets one whose authority it does not know yet."""

import base64
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from slipway.certificates.authority import Subject
from slipway.certificates.issuance import CERTIFICATE, KEY, TRUSTED, Data, Issuance, Lifetimes, expiry
from slipway.certificates.job import AUTHORITY, keep, secret_of, trust
from slipway.kubernetes_api.failures import NotFound
from slipway.kubernetes_api.resources import SECRETS, WEBHOOKS
from tests.services.kubernetes_api.memory_api import MemoryApi

pytestmark = pytest.mark.long

NOW = datetime(2026, 11, 1, tzinfo=UTC)
DAY = timedelta(days=1)
REGISTRY = Subject("registry", "registry", ("slipway-registry", "127.0.0.1"))
TALOS = Subject("provisioner", "talos")


def _issuance(kept: Data, now: datetime) -> Issuance:
    return Issuance(kept, trust_domain="slipway", now=now, lifetimes=Lifetimes())


def _accepts(holder: Data, other: Data, now: datetime) -> bool:
    """Whether the holder of one Secret accepts the certificate of another one."""
    store = Store(x509.load_pem_x509_certificates(holder[TRUSTED]))
    verifier = PolicyBuilder().store(store).time(now).build_client_verifier()
    try:
        verifier.verify(x509.load_pem_x509_certificate(other[CERTIFICATE]), [])
    except VerificationError:
        return False
    return True


def test_a_new_installation_gets_all_it_needs() -> None:
    """An authority of a year, certificates of thirty days with both names, each accepted by the other."""
    issuance = _issuance({}, NOW)
    registry, talos = issuance.certificate({}, REGISTRY), issuance.certificate({}, TALOS)
    assert expiry(issuance.authority) == NOW + 365 * DAY
    assert expiry(registry) == NOW + 30 * DAY
    assert _accepts(registry, talos, NOW)
    assert _accepts(talos, registry, NOW)
    names = x509.load_pem_x509_certificate(talos[CERTIFICATE]).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    assert names.value.get_values_for_type(x509.UniformResourceIdentifier) == ["spiffe://slipway/provisioner/talos"]
    assert names.value.get_values_for_type(x509.DNSName) == ["talos.provisioner.slipway"]


@pytest.mark.parametrize(
    ("role", "name"),
    [
        ("registry", "registry.slipway"),
        ("bootstrapper", "bootstrapper.slipway"),
        ("controller", "bootstrapper.slipway"),
        ("reports", "reports.slipway"),
    ],
)
def test_a_server_can_prove_its_role(role: str, name: str) -> None:
    """Each name that clients demand of a server is issued by its role, without a host."""
    issued = _issuance({}, NOW).certificate({}, Subject(role, "x"))[CERTIFICATE]
    names = x509.load_pem_x509_certificate(issued).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert names.value.get_values_for_type(x509.DNSName) == [name]


def test_what_is_good_stays() -> None:
    """A second run, and one of every day until ten days before the end, change nothing at all."""
    first = _issuance({}, NOW)
    registry = first.certificate({}, REGISTRY)
    for days in (0, 1, 19):
        again = _issuance(first.authority, NOW + days * DAY)
        assert again.authority == first.authority
        assert again.certificate(registry, REGISTRY) == registry
    renewed = _issuance(first.authority, NOW + 20 * DAY).certificate(registry, REGISTRY)
    assert expiry(renewed) == NOW + 50 * DAY
    assert renewed[KEY] != registry[KEY]


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        ({CERTIFICATE: b""}, "somebody has emptied it"),
        ({CERTIFICATE: b"-----BEGIN CERTIFICATE-----"}, "half a certificate"),
        ({KEY: b"nonsense"}, "no key"),
        ({KEY: "other"}, "another one's key"),
        ({CERTIFICATE: "other", KEY: "other"}, "another one's names"),
    ],
)
def test_what_is_not_good_is_replaced(spoilt: dict[str, bytes | str], reason: str) -> None:
    """Whatever is wrong with a certificate, the next run makes a good one."""
    issuance = _issuance({}, NOW)
    good, other = issuance.certificate({}, REGISTRY), issuance.certificate({}, TALOS)
    kept = {**good, **{key: other[key] if isinstance(value, str) else value for key, value in spoilt.items()}}
    found = issuance.certificate(kept, REGISTRY)
    assert found[CERTIFICATE] not in {kept[CERTIFICATE], good[CERTIFICATE]}, reason
    assert _issuance(issuance.authority, NOW).certificate(found, REGISTRY) == found


def test_a_lost_authority_replaces_everything() -> None:
    """An authority that was thrown away trusts nothing of before: that is what it is thrown away for."""
    before = _issuance({}, NOW)
    registry, talos = before.certificate({}, REGISTRY), before.certificate({}, TALOS)
    after = _issuance({}, NOW)
    renewed = after.certificate(registry, REGISTRY)
    assert not _accepts(renewed, talos, NOW)
    assert _accepts(renewed, after.certificate(talos, TALOS), NOW)


def test_nobody_meets_an_authority_that_it_does_not_know() -> None:
    """Over three years of daily runs a reader that is a day late accepts everybody, and is accepted by everybody."""
    authority: Data = {}
    late: list[Data] = []
    current: list[Data] = [{}, {}]
    signers = set()
    for day in range(3 * 365):
        now = NOW + day * DAY
        issuance = _issuance(authority, now)
        authority = issuance.authority
        late, current = (
            current,
            [issuance.certificate(kept, subject) for kept, subject in zip(current, (REGISTRY, TALOS), strict=True)],
        )
        signers.add(authority[CERTIFICATE])
        if (day and day % 7 in (0, 1)) or 270 < day % 275 < 275:
            for one in late:
                for other in current:
                    assert _accepts(one, other, now)
                    assert _accepts(other, one, now)
    assert len(signers) == 4, "the authority was followed by another one each time"


def test_terms_that_leave_a_gap_are_refused() -> None:
    """An authority that ends before what it has signed is nobody's wish."""
    with pytest.raises(ValueError, match="outlast"):
        Lifetimes(announce=20 * DAY)


async def test_secrets_are_kept_and_nothing_else_is_touched(capsys: pytest.CaptureFixture[str]) -> None:
    """Empty Secrets are filled, labels stay, a second run writes nothing, no key is in what is said."""
    api = MemoryApi()
    for name in (AUTHORITY, secret_of(REGISTRY), secret_of(TALOS)):
        metadata = {"name": name, "namespace": "system", "labels": {"of": "somebody"}}
        await api.create(SECRETS, "system", {"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    await _kept(api)
    first = [await api.get(SECRETS, "system", name) for name in (AUTHORITY, secret_of(REGISTRY), secret_of(TALOS))]
    await _kept(api)
    assert first == [await api.get(SECRETS, "system", one["metadata"]["name"]) for one in first]
    assert all(one["metadata"]["labels"] == {"of": "somebody"} for one in first)
    assert first[1]["data"].keys() == {CERTIFICATE, KEY, TRUSTED}
    said = "".join(capsys.readouterr())
    assert "slipway-talos-tls" in said
    assert not [value for one in first for value in one["data"].values() if value[40:80] in said]
    assert "BEGIN" not in said


async def test_a_missing_secret_is_told_by_name() -> None:
    """It is not made: whoever may create Secrets may do more than this program should."""
    with pytest.raises(NotFound, match=AUTHORITY):
        await _kept(MemoryApi())


async def test_a_webhook_s_caller_learns_whom_to_trust() -> None:
    """Every webhook of the configuration, with the rest of it as it was; what is right is not written again."""
    api = MemoryApi()
    hooks = [{"name": name, "clientConfig": {"service": {"name": "s"}, "caBundle": "b2xk"}} for name in ("a", "b")]
    metadata = {"name": "slipway-opt-in", "namespace": ""}
    api.put({"kind": WEBHOOKS.kind, "metadata": metadata, "webhooks": hooks})
    for _ in range(2):
        await trust(api, "slipway-opt-in", b"the authorities")
    found = await api.get(WEBHOOKS, "", "slipway-opt-in")
    config = {"service": {"name": "s"}, "caBundle": base64.b64encode(b"the authorities").decode()}
    assert found["webhooks"] == [{"name": name, "clientConfig": config} for name in ("a", "b")]
    assert len(api.writes) == 1
    with pytest.raises(NotFound):
        await trust(api, "another", b"the authorities")


async def _kept(api: MemoryApi) -> None:
    await keep(api, namespace="system", subjects=[REGISTRY, TALOS], trust_domain="slipway", now=NOW)
