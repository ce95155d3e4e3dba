"""What a provisioner may declare as a secret, and what of a cluster's secrets a spec may refer to."""

import pytest

from slipway.bootstrapper.assembly.subject import check
from slipway.bootstrapper.credentials.roles import secrets_for_role
from slipway.bootstrapper.policy import check_declarations
from slipway.contract.errors import ProvisionerNotAllowed, SpecInvalid
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper.assembly.subjects import subject


def declares(name: str, secret: str, issuer: str = "") -> None:
    """Have a provisioner declare a secret, as everybody who may be chosen does."""
    declaration = secretpb.SecretDeclaration(name=secret, issuer=issuer, kind=secretpb.SECRET_KIND_CLIENT_CERTIFICATE)
    check_declarations(name, provisionerpb.FormatInfo(secrets=[declaration]))


@pytest.mark.parametrize(
    ("name", "secret", "issuer"),
    [
        ("acme", "acme.slipway.dev/x", ""),
        ("acme", "acme.slipway.dev/x", "acme.slipway.dev/ca"),
        ("os.example.com", "os.example.com/x", ""),
    ],
)
def test_own_domains_are_own(name: str, secret: str, issuer: str) -> None:
    """A provisioner declares what is its own, and has it signed by its own authority."""
    declares(name, secret, issuer)


@pytest.mark.parametrize(
    ("name", "secret", "issuer", "reason"),
    [
        ("acme", "acme.slipway.dev/x", "slipway.dev/cluster-ca", "the cluster would sign an administrator for it"),
        ("acme", "acme.slipway.dev/x", "talos.slipway.dev/machine-ca", "so would another provisioner's authority"),
        ("acme", "slipway.dev/cluster-ca", "", "the cluster's own"),
        ("acme", "talos.slipway.dev/machine-ca", "", "another provisioner's"),
        ("acme", "acme.slipway.dev.evil/x", "", "a domain that only begins alike"),
        ("acme", "acme.slipway.dev/", "", "no name in the domain"),
        ("acme", "x", "", "no domain"),
        ("talos.slipway", "talos.slipway/dev.machine-ca", "", "with a dot for the slash it is Talos' own"),
        ("acme", "acme.slipway.dev/a/b", "", "a second slash"),
        ("acme", "acme.slipway.dev/A", "", "no name of a Secret has capitals"),
        ("slipway.dev", "slipway.dev/cluster-ca", "", "a name that is Slipway's own domain"),
        ("talos.slipway.dev", "talos.slipway.dev/machine-ca", "", "a name that is another provisioner's domain"),
    ],
)
def test_the_secrets_of_others_are_not_given(name: str, secret: str, issuer: str, reason: str) -> None:
    """Neither by declaring them, nor by having them sign, nor by a name that makes them look like its own."""
    assert reason
    with pytest.raises(ProvisionerNotAllowed):
        declares(name, secret, issuer)


@pytest.mark.parametrize("full", [["ROLE_WORKER"], ["ROLE_INIT", "ROLE_WORKER"]])
def test_an_authority_that_is_declared_anew_stays_one(full: list[str]) -> None:
    """A later version of a provisioner calls its authority a plain key pair: workers get no key of it for that."""
    name, kind = "acme.slipway.dev/ca", secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY
    stored = [secretpb.Secret(name=name, key=key, kind=kind, value=b"x") for key in ("tls.crt", "tls.key")]
    declared = secretpb.SecretDeclaration(name=name, kind=secretpb.SECRET_KIND_KEY_PAIR, full_roles=full)
    given = secrets_for_role(stored, [declared], clusterpb.ROLE_WORKER)
    assert [one.key for one in given] == ["tls.crt"]


@pytest.mark.parametrize(
    "text",
    [
        "os: {files: [{path: /a, content: {secretRef: {name: slipway.dev/cluster-ca, key: tls.key}}}]}",
        "os: {files: [{path: /a, content: {segments: [{secretRef: {name: slipway.dev/etcd-ca, key: tls.crt}}]}}]}",
        "os: {users: [{name: a, passwordHash: {secretRef: {name: talos.slipway.dev/machine-ca, key: tls.key}}}]}",
        "extensions: [{id: a.example/b, mediaType: a/b, content: {secretRef: {name: slipway.dev/inline, key: a}}}]",
    ],
)
@pytest.mark.parametrize("role", [clusterpb.ROLE_INIT, clusterpb.ROLE_WORKER])
def test_a_spec_can_not_ask_for_the_keys_of_a_cluster(text: str, role: clusterpb.Role.ValueType) -> None:
    """A person's secret has no slash in its name; the others are for engines and provisioners."""
    with pytest.raises(SpecInvalid) as caught:
        check(subject(text, role))
    assert [violation.path.endswith("secretRef.name") for violation in caught.value.violations] == [True]


def test_a_spec_can_refer_to_the_certificate_of_its_cluster() -> None:
    """A kubeconfig for the discovery needs it, and every machine has it anyway."""
    check(subject("os: {files: [{path: /a/b, content: {secretRef: {name: slipway.dev/cluster-ca, key: tls.crt}}}]}"))
