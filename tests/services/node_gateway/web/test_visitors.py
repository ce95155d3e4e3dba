"""Who may see what: by a token, or as the user whom a reverse proxy names, and no other visitor."""

import ssl
from pathlib import Path
from typing import Any

import aiohttp
import click
import pytest

from slipway.kubernetes_api.resources import Json, Resource
from slipway.node_gateway.settings import GatewaySettings
from slipway.node_gateway.web.application import STYLE
from tests.services.certificates import Authority
from tests.services.node_gateway.web.html_reading import check_page
from tests.services.node_gateway.web.served import ARCHIVE, LOGS, MACHINE, serving
from tests.services.reports.made import FAILED, bundle_of
from tests.services.reports.test_report_access import Reviewing

pytestmark = pytest.mark.long

PROXY, OTHER = "spiffe://slipway/client/proxy", "spiffe://slipway/provisioner/talos"
LIST, GET, LOG = ("list", "", ""), ("get", "", "worker-1"), ("get", "log", "worker-1")
BUNDLE = bundle_of({"kubeadm.log": b"[ERROR Swap]: running with swap on is not supported. Please disable swap\n"})
PROXIED = {"web_user_header": "X-Forwarded-User", "web_groups_header": "X-Forwarded-Groups"}


class Users(Reviewing):
    """Lets the users of a group do what is listed, and notes about whom it is asked."""

    def __init__(self, *allowed: tuple[str, str, str], group: str = "sre") -> None:
        super().__init__(*allowed)
        self.users: list[tuple[str, list[str]]] = []
        self._group = group

    async def create(self, resource: Resource, namespace: str, body: Json) -> Json:
        answer = await super().create(resource, namespace, body)
        if resource.kind == "TokenReview":
            return answer
        self.users.append((body["spec"]["user"], body["spec"]["groups"]))
        answer["status"]["allowed"] &= self._group in body["spec"]["groups"] or body["spec"]["user"] == "u"
        return answer


@pytest.mark.parametrize(
    ("allowed", "token", "statuses", "reason"),
    [
        ([LIST, GET, LOG], "Bearer good", [200, 200, 200, 200], "all rights"),
        ([LIST, GET], "Bearer good", [200, 200, 403, 403], "logs need a right of their own"),
        ([GET, LOG], "Bearer good", [403, 200, 200, 200], "the table needs the right to list"),
        ([LIST, LOG], "Bearer good", [200, 403, 403, 403], "the right to logs is none to the machine"),
        ([], "Bearer good", [403, 403, 403, 403], "no right"),
        ([LIST, GET, LOG], "", [401, 401, 401, 401], "no token"),
        ([LIST, GET, LOG], "Bearer bad", [401, 401, 401, 401], "a token that the cluster does not know"),
        ([LIST, GET, LOG], "good", [401, 401, 401, 401], "no scheme"),
    ],
)
async def test_a_token_decides(
    tmp_path: Path, allowed: list[tuple[str, str, str]], token: str, statuses: list[int], reason: str
) -> None:
    """The rights are those of ReportService, by the same reviews; the style sheet and health need none."""
    async with serving(tmp_path, Users(*allowed)) as web:
        await web.add(FAILED, logs=BUNDLE)
        answers = [await web.get(path, Authorization=token) for path in ("/", MACHINE, LOGS, ARCHIVE)]
        assert [answer.status for answer in answers] == statuses, reason
        for answer in answers:
            if answer.status != 200:
                check_page(answer.html)
                assert "worker-1" not in answer.html
                assert ("WWW-Authenticate" in answer.headers) == (answer.status == 401)
        for path in (STYLE, "/healthz"):
            assert (await web.get(path)).status == 200


async def test_without_the_right_to_logs_nothing_of_them_is_shown(tmp_path: Path) -> None:
    """The machine's page has the timeline, and neither evidence nor reason of the logs."""
    async with serving(tmp_path, Users(GET)) as web:
        await web.add(FAILED, logs=BUNDLE)
        page = await web.get(MACHINE, Authorization="Bearer good")
        assert "failed in step 20-kubeadm" in page.html
        assert "machines/log" in page.html
        assert "swap" not in page.html.lower()


async def test_a_header_without_configuration_is_nothing(tmp_path: Path) -> None:
    """Who writes the header of a proxy that there is not shows nothing by it."""
    async with serving(tmp_path, Users(LIST)) as web:
        answer = await web.get("/", X_Forwarded_User="jane", X_Forwarded_Groups="sre")
        assert answer.status == 401


async def test_on_this_machine_a_proxy_names_the_user(tmp_path: Path) -> None:
    """The rights of the user count, with the groups that the proxy names; a token beside them does not."""
    api = Users(LIST)
    async with serving(tmp_path, api, **PROXIED) as web:
        jane = {"X_Forwarded_User": "jane", "X_Forwarded_Groups": "dev, sre"}
        assert (await web.get("/", **jane)).status == 200
        assert api.users == [("jane", ["dev", "sre", "system:authenticated"])]
        assert (await web.get("/", Authorization="Bearer good", X_Forwarded_User="joe")).status == 403
        assert (await web.get("/")).status == 401
        assert (await web.get("/", Authorization="Bearer good")).status == 200


@pytest.mark.parametrize(
    ("headers", "status", "reason"),
    [
        ([("X-Forwarded-User", "jane"), ("X-Forwarded-User", "joe")], 401, "two users"),
        ([("X-Forwarded-User", "")], 401, "no user"),
        ([("X-Forwarded-Groups", "sre")], 401, "groups of nobody"),
        ([("X-Forwarded-User", "system:admin"), ("X-Forwarded-Groups", "sre")], 403, "a user of Kubernetes itself"),
        ([("X-Forwarded-User", "jane"), ("X-Forwarded-Groups", "sre,system:masters")], 403, "a group of Kubernetes"),
        ([("X-Forwarded-User", "j" * 300), ("X-Forwarded-Groups", "sre")], 403, "a long name"),
        ([("X-Forwarded-User", "jane"), ("X-Forwarded-Groups", ",".join(["sre"] * 300))], 403, "many groups"),
    ],
)
async def test_no_proxy_names_such_a_user(
    tmp_path: Path, headers: list[tuple[str, str]], status: int, reason: str
) -> None:
    """What is not one person with groups of persons is refused, although RBAC might allow it."""
    async with serving(tmp_path, Users(LIST), **PROXIED) as web, web.client.get("/", headers=headers) as answer:
        assert answer.status == status, reason


async def test_by_tls_the_proxy_shows_its_certificate(tmp_path: Path) -> None:
    """No client without a certificate, with another one, or with one that has a second name, may name a user."""
    authority = Authority()
    uris = {"p": [PROXY], "o": [OTHER], "both": [PROXY, OTHER]}
    folders = {name: authority.fill(tmp_path / name, uris=names) for name, names in uris.items()}
    server = authority.fill(tmp_path / "server")
    settings: dict[str, Any] = {"tls_cert_dir": server, "web_tls_cert_dir": server, "web_proxies": PROXY, **PROXIED}

    def context(name: str = "") -> ssl.SSLContext:
        made = ssl.create_default_context(cadata=authority.certificate.decode())
        if name:
            made.load_cert_chain(folders[name] / "tls.crt", folders[name] / "tls.key")
        return made

    async with serving(tmp_path / "store", Users(LIST), context=context(), **settings) as web:
        url = f"https://127.0.0.1:{web.port}/"
        jane = {"X-Forwarded-User": "jane", "X-Forwarded-Groups": "sre"}
        for name, headers, status in (
            ("p", jane, 200), ("o", jane, 403), ("both", jane, 403), ("", jane, 403), ("p", {}, 401),
            ("", {"Authorization": "Bearer good"}, 200),
        ):  # fmt: skip
            async with aiohttp.ClientSession() as client, client.get(url, headers=headers, ssl=context(name)) as answer:
                assert answer.status == status, (name, headers)
        stranger = Authority()
        folders["s"] = stranger.fill(tmp_path / "s", uris=[PROXY])
        async with aiohttp.ClientSession() as client:
            with pytest.raises(aiohttp.ClientError):
                await client.get(url, headers=jane, ssl=context("s"))


async def test_a_certificate_on_the_list_of_readers_reads(tmp_path: Path) -> None:
    """As at ReportService: a proxy that admits visitors by itself needs no header, for the list's namespaces."""
    authority = Authority()
    server = authority.fill(tmp_path / "server", uris=[PROXY])
    made = ssl.create_default_context(cadata=authority.certificate.decode())
    settings = {"tls_cert_dir": server, "web_tls_cert_dir": server, "report_readers": f"{PROXY}=default"}
    async with serving(tmp_path / "store", context=made, **settings) as web:
        assert (await web.get("/")).status == 401
        made.load_cert_chain(server / "tls.crt", server / "tls.key")
        async with aiohttp.ClientSession(web.client._base_url) as client:
            for path, status in (("/", 200), ("/?namespace=other", 403)):
                async with client.get(path, ssl=made) as answer:
                    assert answer.status == status, path


async def test_a_page_for_everybody_on_this_machine_is_for_no_other_site(tmp_path: Path) -> None:
    """A site that gives its own name an address of this machine would read the page with a visitor's browser."""
    async with serving(tmp_path) as web:
        for host, status in (("127.0.0.1:1", 200), ("localhost", 200), ("[::1]:1", 200), ("evil.example:80", 403),
                             ("127.0.0.1.evil.example", 403)):  # fmt: skip
            assert (await web.get("/", Host=host)).status == status, host


TLS = {"tls_cert_dir": Path("/certs"), "web_tls_cert_dir": Path("/certs")}
LOCAL = {"web_address": "127.0.0.1:0"}


@pytest.mark.parametrize(
    ("settings", "flag", "reason"),
    [
        ({"web_address": "nowhere"}, "--web-address", "no address"),
        ({"web_address": "[::]:1", "review_tokens": True}, "--web-tls-cert-dir", "all addresses without TLS"),
        ({**LOCAL, "insecure": None, "tls_cert_dir": Path("/c")}, "--review-tokens", "open, and nobody said so"),
        ({"web_address": "[::]:1", **TLS}, "--review-tokens", "nobody could see anything"),
        ({"web_tls_cert_dir": Path("/c")}, "--web-address", "certificates of no page"),
        ({"web_user_header": "X-User"}, "--web-address", "a header of no page"),
        ({**LOCAL, "web_user_header": "X-User"}, "--review-tokens", "nobody would decide about the user"),
        ({**LOCAL, "web_groups_header": "X-G", "review_tokens": True}, "--web-user-header", "groups of no user"),
        ({"web_address": "[::]:1", **TLS, "review_tokens": True, "web_user_header": "X-User"}, "--web-proxies",
         "anybody could write the header"),
        ({**LOCAL, "review_tokens": True, "web_user_header": "X-User", "web_proxies": PROXY}, "--web-tls-cert-dir",
         "no certificate could be shown"),
        ({"web_address": "[::]:1", **TLS, "review_tokens": True, "web_proxies": PROXY}, "--web-user-header",
         "a proxy that names nobody"),
        ({**LOCAL, "review_tokens": True, "web_user_header": "Authorization"}, "--web-user-header", "another meaning"),
        ({**LOCAL, "review_tokens": True, "web_user_header": "X-A", "web_groups_header": "x-a"}, "two headers", "one"),
        ({**LOCAL, "review_tokens": True, "web_user_header": "X-A", "web_proxies": "proxy"}, "--web-proxies", "no id"),
        ({**LOCAL, "report_store": None}, "--report-store", "nothing to show"),
    ],
)  # fmt: skip
def test_a_page_that_would_trust_anybody_is_not_started(settings: dict[str, Any], flag: str, reason: str) -> None:
    """What the flags cannot mean together is wrong usage, and names the flag to add."""
    transport = {} if "tls_cert_dir" in settings else {"insecure": True, "listen_address": "127.0.0.1:0"}
    values = {"store": "file:///a", "report_store": "file:///b", **transport, **settings}
    with pytest.raises(click.UsageError, match=flag):
        GatewaySettings.load({name: value for name, value in values.items() if value is not None})
