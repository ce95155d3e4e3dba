"""Settings of the node gateway. It shares listening, TLS and logs with the other servers."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import NoDecode

from slipway.bootstrapper.callers import namespaces_by_caller
from slipway.kubernetes_api.access_reviews import AUDIENCE
from slipway.rpc.addresses import can_be_listened_on, is_loopback
from slipway.rpc.settings import ServerSettings

_STORE = r"^(file:///|s3://|gs://|az://)[^\s]+$"
# Neither a header that means something else, nor one that many servers set by themselves.
_HEADER = r"^(?i:x-[a-z0-9-]{1,60}|remote-[a-z0-9-]{1,60})$"
_USES = "--report-key-file, --report-inbox, --management-address"
Names = Annotated[frozenset[str], NoDecode]


class GatewaySettings(ServerSettings):
    """Where the files are, and what a peer may take: an IPv4 address, or an IPv6 /64. A rate of 0 is no limit.

    Attributes:
        store: URL of a folder or an object store; credentials come from the environment.
        peer_bytes_per_second: bytes a second of all connections of a peer.
        peer_requests_per_second: requests a second of a peer.
        peer_connections: connections of a peer at a time.
        connections: connections of all peers at a time.
        connection_seconds: most seconds that a connection lives.
        max_blob_bytes: larger files are not served.
        payload_notes: the same for notes of which payloads were fetched; without it there are none.
        report_store: the same for reports; without it there are none.
        report_key_file: keys of the addresses to which machines write reports; without it they write none.
        report_inbox: the same, where machines write them by pre-signed URLs; the gateway looks there.
        report_inbox_seconds: the time between two looks, and less by chance.
        report_days: reports older than that are deleted.
        report_bytes: of all reports; beyond it the oldest are deleted.
        machine_reports_per_second: reports a second of a machine.
        management_address: where ReportService is served, by gRPC.
        management_tls_cert_dir: certificates of that server, whose callers are not machines.
        report_readers: SPIFFE ids that may read reports (see namespaces_by_caller).
        console_callers: SPIFFE ids that may bring the text of consoles.
        web_address: where people see the reports with a browser.
        web_tls_cert_dir: certificates of that server; without it only this machine can connect.
        web_user_header: header in which a reverse proxy names the user, whose rights in the management cluster count.
        web_groups_header: header in which it names the user's groups.
        web_proxies: SPIFFE ids of the reverse proxy's certificate.
        review_tokens: ask the management cluster about callers on no list, by their tokens.
        token_audiences: for one of these a token must have been issued.
        kubeconfig: the management cluster; without it that of this pod.
    """

    store: str = Field(pattern=_STORE)
    peer_bytes_per_second: int = Field(default=64 * 2**20, ge=0)
    peer_requests_per_second: float = Field(default=50.0, ge=0)
    peer_connections: int = Field(default=32, ge=1, le=100_000)
    connections: int = Field(default=1024, ge=1, le=100_000)
    connection_seconds: float = Field(default=900.0, gt=0, le=86_400)
    max_blob_bytes: int = Field(default=256 * 2**20, ge=1)
    payload_notes: str | None = Field(default=None, pattern=_STORE)
    report_store: str | None = Field(default=None, pattern=_STORE)
    report_key_file: Path | None = None
    report_inbox: str | None = Field(default=None, pattern=_STORE)
    report_inbox_seconds: float = Field(default=30.0, ge=1, le=3600)
    report_days: float = Field(default=14.0, gt=0, le=3650)
    report_bytes: int = Field(default=10 * 2**30, ge=2**20)
    machine_reports_per_second: float = Field(default=1.0, ge=0)
    management_address: str | None = None
    management_tls_cert_dir: Path | None = None
    report_readers: Names = frozenset()
    console_callers: Names = frozenset()
    web_address: str | None = None
    web_tls_cert_dir: Path | None = None
    web_user_header: str | None = Field(default=None, pattern=_HEADER)
    web_groups_header: str | None = Field(default=None, pattern=_HEADER)
    web_proxies: Names = frozenset()
    review_tokens: bool = False
    token_audiences: Names = Field(default=frozenset({AUDIENCE}), min_length=1)
    kubeconfig: Path | None = None

    @field_validator("report_readers", "console_callers", "web_proxies", "token_audiences", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return frozenset(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("report_readers", "console_callers")
    @classmethod
    def _are_callers(cls, value: frozenset[str]) -> frozenset[str]:
        namespaces_by_caller(value)
        return value

    @field_validator("web_user_header", "web_groups_header")
    @classmethod
    def _has_no_capitals(cls, value: str | None) -> str | None:
        return value and value.lower()

    @field_validator("web_proxies")
    @classmethod
    def _are_ids(cls, value: frozenset[str]) -> frozenset[str]:
        if not all(item.startswith("spiffe://") and "=" not in item for item in value):
            raise ValueError("must be SPIFFE ids: spiffe://...")
        return value

    @field_validator("management_address", "web_address")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is not None and not can_be_listened_on(value):
            raise ValueError("must be HOST:PORT, with a port from 0 (any that is free) to 65535")
        return value

    @model_validator(mode="after")
    def _reports_have_a_store(self) -> Self:
        uses = (self.report_key_file, self.report_inbox, self.management_address, self.web_address)
        if self.report_store is None and any(uses):
            raise ValueError(
                "--report-key-file, --report-inbox, --management-address and --web-address need --report-store"
            )
        if self.report_store is not None and not any(uses):
            raise ValueError(
                "--report-store needs --report-key-file, --report-inbox, --management-address or --web-address"
            )
        if self.report_store is not None and self.report_store == self.store:
            raise ValueError("--report-store must be another folder or prefix than --store")
        if self.report_inbox is not None and self.report_inbox in (self.store, self.report_store):
            # What is kept is without secrets, and its names are the index; no machine may write there.
            raise ValueError("--report-inbox must be another folder or prefix than --store and --report-store")
        return self

    @model_validator(mode="after")
    def _management_has_a_transport(self) -> Self:
        if self.management_address is not None and not self.insecure and self.management_tls_cert_dir is None:
            raise ValueError("--management-address needs --management-tls-cert-dir DIR")
        if self.management_tls_cert_dir is not None and (self.insecure or self.management_address is None):
            raise ValueError("--management-tls-cert-dir is for --management-address, without --insecure")
        return self

    @model_validator(mode="after")
    def _web_page_knows_its_visitors(self) -> Self:
        if self.web_address is None:
            if self.web_tls_cert_dir or self.web_user_header or self.web_groups_header or self.web_proxies:
                raise ValueError("--web-tls-cert-dir, --web-...-header and --web-proxies are for --web-address")
            return self
        if self.web_tls_cert_dir is None:
            if not is_loopback(self.web_address):
                raise ValueError("--web-address needs --web-tls-cert-dir DIR, unless it is a loopback address")
            if not self.insecure and not self.review_tokens:
                raise ValueError("--web-address without TLS needs --review-tokens, or --insecure to show all it has")
        elif not self.review_tokens and not self.report_readers:
            raise ValueError("--web-address needs --review-tokens or --report-readers, or no visitor has a right")
        return self

    @model_validator(mode="after")
    def _web_proxy_is_known(self) -> Self:
        """Believe a header only of a proxy that shows a certificate, or where no other machine can connect."""
        if self.web_user_header is None:
            if self.web_groups_header or self.web_proxies:
                raise ValueError("--web-groups-header and --web-proxies need --web-user-header")
            return self
        if not self.review_tokens:
            raise ValueError("--web-user-header needs --review-tokens: the management cluster decides about the user")
        if self.web_user_header == self.web_groups_header:
            raise ValueError("--web-user-header and --web-groups-header must be two headers")
        if self.web_tls_cert_dir is not None and not self.web_proxies:
            raise ValueError("--web-user-header needs --web-proxies: the SPIFFE id of the proxy's certificate")
        if self.web_tls_cert_dir is None and self.web_proxies:
            raise ValueError("--web-proxies needs --web-tls-cert-dir")
        return self

    def management(self) -> ServerSettings | None:
        """Give the settings of the gRPC server, where there is one.

        Raises:
            click.UsageError: they are not valid: without TLS it serves this machine only.
        """
        if self.management_address is None:
            return None
        shared = self.model_dump(include=set(ServerSettings.model_fields))
        own = {"listen_address": self.management_address, "tls_cert_dir": self.management_tls_cert_dir}
        return ServerSettings.load(shared | own)
