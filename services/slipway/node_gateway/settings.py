"""Settings of the node gateway. It shares listening, TLS and logs with the other servers."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import NoDecode

from slipway.bootstrapper.callers import namespaces_by_caller
from slipway.kubernetes_api.access_reviews import AUDIENCE
from slipway.rpc.addresses import can_be_listened_on
from slipway.rpc.settings import ServerSettings

_STORE = r"^(file:///|s3://|gs://|az://)[^\s]+$"
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
        report_store: the same for reports; without it there are none.
        report_key_file: keys of the addresses to which machines write reports; without it they write none.
        report_days: reports older than that are deleted.
        report_bytes: of all reports; beyond it the oldest are deleted.
        machine_reports_per_second: reports a second of a machine.
        management_address: where ReportService is served, by gRPC.
        management_tls_cert_dir: certificates of that server, whose callers are not machines.
        report_readers: SPIFFE ids that may read reports (see namespaces_by_caller).
        console_callers: SPIFFE ids that may bring the text of consoles.
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
    report_store: str | None = Field(default=None, pattern=_STORE)
    report_key_file: Path | None = None
    report_days: float = Field(default=14.0, gt=0, le=3650)
    report_bytes: int = Field(default=10 * 2**30, ge=2**20)
    machine_reports_per_second: float = Field(default=1.0, ge=0)
    management_address: str | None = None
    management_tls_cert_dir: Path | None = None
    report_readers: Names = frozenset()
    console_callers: Names = frozenset()
    review_tokens: bool = False
    token_audiences: Names = Field(default=frozenset({AUDIENCE}), min_length=1)
    kubeconfig: Path | None = None

    @field_validator("report_readers", "console_callers", "token_audiences", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return frozenset(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("report_readers", "console_callers")
    @classmethod
    def _are_callers(cls, value: frozenset[str]) -> frozenset[str]:
        namespaces_by_caller(value)
        return value

    @field_validator("management_address")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is not None and not can_be_listened_on(value):
            raise ValueError("must be HOST:PORT, with a port from 0 (any that is free) to 65535")
        return value

    @model_validator(mode="after")
    def _reports_have_a_store(self) -> Self:
        if self.report_store is None and (self.report_key_file is not None or self.management_address is not None):
            raise ValueError("--report-key-file and --management-address need --report-store")
        if self.report_store is not None and self.report_key_file is None and self.management_address is None:
            raise ValueError("--report-store needs --report-key-file, --management-address, or both")
        if self.report_store is not None and self.report_store == self.store:
            raise ValueError("--report-store must be another folder or prefix than --store")
        return self

    @model_validator(mode="after")
    def _management_has_a_transport(self) -> Self:
        if self.management_address is not None and not self.insecure and self.management_tls_cert_dir is None:
            raise ValueError("--management-address needs --management-tls-cert-dir DIR")
        if self.management_tls_cert_dir is not None and (self.insecure or self.management_address is None):
            raise ValueError("--management-tls-cert-dir is for --management-address, without --insecure")
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
