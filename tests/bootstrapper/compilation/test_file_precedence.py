"""A file that a config and the bootstrap engine both write: an imported machine gets the one of today."""

import pytest

from slipway.bootstrapper.compilation.file_precedence import settle_files
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.asking import asked, question, refused
from tests.bootstrapper.importers.carrying import IGNITION, carried, codes

CONFIG, CERTIFICATE = "/run/kubeadm/kubeadm.yaml", "/etc/kubernetes/pki/ca.crt"


def user(path: str, *, append: bool = False) -> ospb.File:
    """Give a file of the config."""
    return ospb.File(path=path, append=append or None, origin=diagnosticpb.Origin(document="x", path="spec.files[0]"))


def engine(path: str) -> ospb.File:
    """Give a file of the engine."""
    return ospb.File(path=path, origin=diagnosticpb.Origin(made_by=["kubeadm"]))


SETTLED = [
    ([user(CONFIG), engine(CONFIG)], [1], ["USER_FILE_REPLACED"], "the configuration is written last"),
    ([user(CONFIG, append=True), engine(CONFIG)], [1], ["USER_FILE_REPLACED"], "over what was appended too"),
    ([user(CERTIFICATE), engine(CERTIFICATE)], [0], ["ENGINE_FILE_REPLACED"], "certificates are written first"),
    ([user(CERTIFICATE, append=True), engine(CERTIFICATE)], [1, 0], ["ENGINE_FILE_REPLACED"], "then appended to"),
    ([user("/a"), engine(CONFIG), engine(CERTIFICATE)], [0, 1, 2], [], "no path is claimed twice"),
]


@pytest.mark.parametrize(("files", "expected", "remarks", "reason"), SETTLED, ids=[row[3] for row in SETTLED])
def test_the_order_of_today_decides(
    files: list[ospb.File], expected: list[int], remarks: list[str], reason: str
) -> None:
    """Certificates, then the user's files, then the configuration: what is written last counts."""
    system = ospb.OperatingSystem(files=files)
    assert [remark.code for remark in settle_files(system, [CONFIG])] == remarks, reason
    assert list(system.files) == [files[index] for index in expected], reason


PROVIDERS = [
    ("files: [{path: /run/cluster-api//placeholder, content: x}]", 0),
    (IGNITION + "files: [{path: /etc/kubeadm.sh, content: x}]", 0),
    (IGNITION + "ntp: {enabled: true, servers: [a]}\nfiles: [{path: /etc/ntp.conf, content: x}]", 0),
    (IGNITION + "files: [{path: /etc/ntp.conf, content: x}]", 1),
    ("files: [{path: /etc/kubeadm.sh, content: x}]", 1),
]


@pytest.mark.parametrize(("spec", "count"), PROVIDERS, ids=range(len(PROVIDERS)))
def test_what_the_provider_overwrites_is_left_out(spec: str, count: int) -> None:
    """A file that today's provider writes over on every machine is not carried over, and the remark says so."""
    got = carried(spec)
    assert len(got.spec.os.files) == count
    assert codes(got).count("NO_EFFECT") == 1 - count


@pytest.mark.parametrize("path", ["/etc/slipway/kubeadm.yaml", "/run/cluster-api/x", "/etc/kubernetes/pki/ca.crt"])
async def test_a_native_spec_cannot_claim_a_path_of_the_engine(path: str) -> None:
    """There a collision is refused, at the user's file."""
    spec = f"{{os: {{files: [{{path: {path}, content: {{text: x}}}}]}}}}"
    error = await refused(asked(question(spec, role="Init"), "cloud-init"))
    assert error is not None
    assert ["spec.os.files[0]" in violation.path for violation in error.violations] == [True]
