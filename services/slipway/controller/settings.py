"""Settings of the controller, beside those that a bootstrapper's server has."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Self

import click
from pydantic import Field, field_validator, model_validator
from pydantic_settings import NoDecode

from slipway.bootstrapper.callers import namespaces_by_caller
from slipway.contract.grammars import grammars
from slipway.controller.payloads import Payloads
from slipway.controller.report_addresses import ReportAddresses
from slipway.controller.report_watch import ReportServer
from slipway.controller.timeouts import Timeouts
from slipway.embedded.settings import EmbeddedSettings
from slipway.kubernetes_api.access_reviews import AUDIENCE
from slipway.kubernetes_api.destinations import Destinations
from slipway.reports.capability import Capabilities, KeyFileInvalid
from slipway.rpc.addresses import is_endpoint, is_loopback
from slipway.rpc.channel import ChannelPool
from slipway.rpc.tls import CertificateFiles


class ControllerSettings(EmbeddedSettings):
    """How the controller works. Lists are comma-separated, times in seconds."""

    kubeconfig: Path | None = None
    namespaces: Annotated[frozenset[str] | None, NoDecode] = None
    watch_filter: str = ""
    lease_namespace: str | None = None
    leader_elect: bool = True
    workers: int = Field(default=32, ge=1, le=1000)
    kube_api_qps: float = Field(default=0.0, ge=0, le=10_000)
    kube_api_burst: int = Field(default=200, ge=0, le=20_000)
    bootstrap_token_ttl_seconds: float = Field(default=900.0, ge=60, le=86_400)
    machine_readers: Annotated[frozenset[str], NoDecode] = frozenset()
    token_audiences: Annotated[frozenset[str], NoDecode] = Field(default=frozenset({AUDIENCE}), min_length=1)
    workload_servers: Annotated[frozenset[str], NoDecode] = frozenset()
    report_url_base: str | None = Field(
        default=None, max_length=2048, pattern=r'^https?://[^/?#@\s"\\]+(/[^?#\s"\\]*)?$'
    )
    report_key_file: Path | None = None
    report_url_hours: float = Field(default=48.0, ge=1, le=24 * 365)
    reports_address: str | None = None
    reports_tls_cert_dir: Path | None = None
    reports_token_file: Path | None = None
    workload_reports: bool = False
    approve_kubelet_certificates: bool = False
    payload_store: str | None = Field(default=None, pattern=r"^(file:///|s3://|gs://|az://)[^\s]+$")
    payload_presigned: bool = False
    webhook_address: str | None = Field(default=None, pattern=r"^(\[[0-9A-Fa-f:.]*\]|[A-Za-z0-9.-]*):[0-9]{1,5}$")

    @field_validator("namespaces", "machine_readers", "token_audiences", "workload_servers", mode="before")
    @classmethod
    def _split_readers(cls, value: object) -> object:
        return frozenset(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("machine_readers")
    @classmethod
    def _check_readers(cls, value: frozenset[str]) -> frozenset[str]:
        namespaces_by_caller(value)
        return value

    @field_validator("namespaces")
    @classmethod
    def _check_namespaces(cls, value: frozenset[str] | None) -> frozenset[str] | None:
        """Refuse an empty list as well: it would mean all of them to the API server."""
        if value is not None and not (value and all(grammars()["dns-label"].check(name) for name in value)):
            raise ValueError("must be names of namespaces, comma-separated; leave it out for all of them")
        return value

    @field_validator("reports_address")
    @classmethod
    def _check_reports_address(cls, value: str | None) -> str | None:
        if value is not None and not is_endpoint(value):
            raise ValueError("must be HOST:PORT, with a port from 1 to 65535")
        return value

    @field_validator("workload_servers")
    @classmethod
    def _check_servers(cls, value: frozenset[str]) -> frozenset[str]:
        Destinations(value)
        return value

    @model_validator(mode="after")
    def _webhook_has_a_certificate(self) -> Self:
        if self.webhook_address is not None and self.tls_cert_dir is None:
            raise ValueError("--webhook-address needs --tls-cert-dir: an API server asks webhooks by TLS only")
        return self

    @model_validator(mode="after")
    def _reports_have_an_address(self) -> Self:
        if self.reports_address is None and (self.reports_tls_cert_dir or self.reports_token_file):
            raise ValueError("--reports-tls-cert-dir and --reports-token-file need --reports-address")
        certificates = self.reports_tls_cert_dir or self.tls_cert_dir
        if self.reports_address is not None and certificates is None and not is_loopback(self.reports_address):
            raise ValueError("--reports-address needs --reports-tls-cert-dir: without TLS only this machine is called")
        return self

    @model_validator(mode="after")
    def _report_addresses_are_whole(self) -> Self:
        if (self.report_url_base is None) != (self.report_key_file is None):
            raise ValueError("--report-url-base and --report-key-file go together: an address is signed by the key")
        return self

    @model_validator(mode="after")
    def _payloads_have_a_store(self) -> Self:
        if bool(self.fetch_infrastructures) != (self.payload_store is not None):
            raise ValueError("--fetch-infrastructures and --payload-store go together: what is fetched is stored there")
        if self.payload_presigned and (self.payload_store or "file:").startswith("file:"):
            raise ValueError("--payload-presigned needs a --payload-store of s3://, gs:// or az://")
        return self

    def payloads(self) -> Payloads | None:
        """Give what stores user data that machines fetch; None where none may.

        Raises:
            click.UsageError: the store cannot be opened, or cannot sign addresses as it should.
        """
        fetching = self.fetching()
        if fetching is None or self.payload_store is None:
            return None
        from slipway.reports.objects import Objects  # noqa: PLC0415  # obstore has 5 MiB, which only this store needs

        try:
            objects = Objects.of(self.payload_store, "--payload-store")
            payloads = Payloads(objects, fetching, presigned=self.payload_presigned)
            if payloads.presigned:
                payloads.check_presigned()
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        return payloads

    def report_addresses(self, clock: Callable[[], datetime]) -> ReportAddresses | None:
        """Give what makes addresses of reports; None where the operator has configured no gateway.

        Raises:
            click.UsageError: the file has no usable keys; the text says nothing of them.
        """
        if self.report_url_base is None or self.report_key_file is None:
            return None
        try:
            capabilities = Capabilities.of_file(self.report_key_file)
        except KeyFileInvalid as error:
            raise click.UsageError(f"--report-key-file: {error}") from None
        valid = timedelta(hours=self.report_url_hours)
        return ReportAddresses(self.report_url_base.rstrip("/"), capabilities, valid, clock)

    def report_server(self) -> ReportServer | None:
        """Give where reports are followed, with connections of its own; None where nowhere."""
        if self.reports_address is None:
            return None
        directory = self.reports_tls_cert_dir or self.tls_cert_dir
        tls = None if directory is None else CertificateFiles(directory)
        channels = ChannelPool(tls=tls, trust_domain=self.trust_domain)
        return ReportServer(self.reports_address, channels, self.reports_token_file)

    @property
    def webhook(self) -> tuple[str, int, Path] | None:
        """Host, port and certificates of the webhook, where it is served."""
        if self.webhook_address is None or self.tls_cert_dir is None:
            return None
        host, _, port = self.webhook_address.rpartition(":")
        return host.strip("[]"), int(port), self.tls_cert_dir

    @property
    def timeouts(self) -> Timeouts:
        """Times of the reconciler."""
        return Timeouts(token_ttl=timedelta(seconds=self.bootstrap_token_ttl_seconds))
