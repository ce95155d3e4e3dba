"""Which API server a process calls, and by which credentials."""

from pathlib import Path

import pytest

from slipway.kubernetes_api import configuration as module
from slipway.kubernetes_api.configuration import ApiConfiguration, ConfigurationMissing
from slipway.kubernetes_api.connection import Connection, KubeconfigUnusable

POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    """The folder of a service account."""
    (tmp_path / "ca.crt").write_text("x")
    (tmp_path / "token").write_text("first")
    return tmp_path


@pytest.mark.parametrize(("host", "url"), [("10.0.0.1", "https://10.0.0.1:443"), ("fd00::1", "https://[fd00::1]:443")])
def test_a_pod_calls_the_api_server_of_its_cluster(account: Path, host: str, url: str) -> None:
    """By the token of its service account, and the authorities beside it."""
    configuration = ApiConfiguration.of_pod(
        environment={**POD, "KUBERNETES_SERVICE_HOST": host}, service_account=account
    )
    assert configuration.host == url
    assert configuration.api_key == {"BearerToken": "Bearer first"}
    assert configuration.ssl_ca_cert == str(account / "ca.crt")
    assert "first" not in repr(configuration)


def test_a_token_is_read_anew(account: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kubelet renews it; it is read once a minute, and an empty file is an error instead of a call without it."""
    now = 1000.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    configuration = ApiConfiguration.of_pod(environment=POD, service_account=account)
    refresh = configuration.refresh_api_key_hook
    assert refresh is not None
    (account / "token").write_text("second\n")
    refresh(configuration)
    assert configuration.api_key["BearerToken"] == "Bearer first"
    now += 61
    refresh(configuration)
    assert configuration.api_key["BearerToken"] == "Bearer second"
    (account / "token").write_text("")
    now += 61
    with pytest.raises(ConfigurationMissing, match="no token, or an empty one"):
        refresh(configuration)


@pytest.mark.parametrize(
    ("environment", "gone", "why"),
    [
        ({}, "", "runs in no cluster"),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "", "runs in no cluster"),
        (POD, "ca.crt", "no ca.crt"),
        (POD, "token", "no token"),
    ],
)
def test_a_process_outside_of_a_cluster_is_told_so(
    account: Path, environment: dict[str, str], gone: str, why: str
) -> None:
    """What is missing is named, never what is there."""
    if gone:
        (account / gone).unlink()
    with pytest.raises(ConfigurationMissing, match=why):
        ApiConfiguration.of_pod(environment=environment, service_account=account)


_KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "https://api.example.com:6443", tls-server-name: other}}]
users: [{name: a, user: {token: hunter2}}]
"""


async def test_a_kubeconfig_file_is_read_by_the_kubernetes_client(tmp_path: Path) -> None:
    """It sets the fields of our own configuration, under their own names."""
    file = tmp_path / "config"
    file.write_text(_KUBECONFIG)
    connection = await Connection.of_process(file)
    session = connection._session
    assert session.configuration.host == "https://api.example.com:6443"
    assert session.configuration.tls_server_name == "other"
    assert await session._credentials() == {"authorization": "Bearer hunter2"}
    await connection.close()


@pytest.mark.parametrize("text", ["[]", "a: b", "{", "kind: Config\ncurrent-context: a\ncontexts: 1\n"])
async def test_a_file_that_is_no_kubeconfig_is_refused(tmp_path: Path, text: str) -> None:
    """With one error, whatever the library makes of it."""
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(KubeconfigUnusable):
        await Connection.by_kubeconfig(file)
