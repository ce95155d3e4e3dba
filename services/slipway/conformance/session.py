"""One run: the subject, what it said of itself, and the means that the checks may use."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slipway.conformance import requests
from slipway.conformance.certificates import Credentials, OwnAuthority
from slipway.conformance.figures import Figures
from slipway.conformance.heartbeat import Heartbeat
from slipway.conformance.launcher import Launcher, Running, Setup, free_address
from slipway.conformance.ledger import Ledger
from slipway.conformance.options import Options
from slipway.conformance.outcome import Broken, NotRun
from slipway.conformance.registry import OwnRegistry
from slipway.conformance.subject import Subject
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


class CannotStartError(Exception):
    """The suite cannot begin; the text says why."""


@dataclass(slots=True)
class Session:
    """What a check may use.

    Attributes:
        options: what the user said.
        subject: the provisioner.
        info: what it said of itself.
        launcher: starts further processes of it; None when it runs by itself.
        main: the process of `subject`; None when it runs by itself.
        credentials: what the suite shows; None without TLS.
        authority: the suite's own authority, when it made the certificates.
        folder: a folder of the suite's own; the provisioner's certificates are in it when the suite made them.
        ledger: what became of the features.
        figures: what was measured in passing.
        heartbeat: tells by how much this machine makes the suite itself late.
        trials: cases that were tried already, by format, clause and name.
        gone: why nothing more can be asked of the subject; empty while it answers.
        until: when the run has to end, by the clock of time.monotonic.
    """

    options: Options
    subject: Subject
    info: provisionerpb.GetProvisionerInfoResponse
    launcher: Launcher | None = None
    main: Running | None = None
    credentials: Credentials | None = None
    authority: OwnAuthority | None = None
    folder: Path = Path()
    ledger: Ledger = field(default_factory=Ledger)
    figures: Figures = field(default_factory=Figures)
    heartbeat: Heartbeat = field(default_factory=Heartbeat)
    trials: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    gone: str = ""
    until: float = float("inf")
    _versions: dict[str, str] = field(default_factory=dict)

    @property
    def secure(self) -> bool:
        """Whether the connection has TLS."""
        return self.credentials is not None

    async def base(self, info: provisionerpb.FormatInfo) -> provisionerpb.RenderRequest:
        """Give the smallest request for a format, with a Kubernetes version that it takes."""
        if info.kubernetes_input != requests.INTENT:
            return requests.smallest(info)
        if info.format not in self._versions:
            for version in requests.VERSIONS:
                got = await self.subject.render(requests.smallest(info, version=version))
                self._versions[info.format] = version
                if got.info.reason != "KUBERNETES_VERSION_UNSUPPORTED":
                    break
        return requests.smallest(info, version=self._versions[info.format])

    def setup(
        self, *, listen: str | None = None, registry: str | None = None, certificates: Path | None = None
    ) -> Setup:
        """Give how a further process is started; on a free address unless said."""
        return Setup(
            listen=listen or free_address(),
            tls_cert_dir=certificates or certificate_folder(self.options, self.folder),
            insecure=self.options.insecure,
            registry=registry,
        )

    async def revived(self) -> str:
        """See that the subject still answers, and start it again if not; give what is to be said of that.

        A check that brings it down must not cost the report of all others.
        """
        got = await self.subject.patient_info()
        if got.code not in ("DEADLINE_EXCEEDED", "UNAVAILABLE"):
            return ""
        if self.launcher is None or self.main is None:
            self.gone = "it no longer answers"
            return self.gone
        await self.end()
        endpoint = self.subject.endpoint
        self.main = await self.launcher.start(self.setup(listen=endpoint))
        self.subject = self.subject.reopened()
        if not await self.answers(self.main, self.subject, self.options.patience.start):
            self.gone = "it no longer answered, and did not start again"
            return self.gone
        return "after this check it no longer answered, and was started again"

    async def end(self) -> None:
        """End the subject, if the suite has started it, and the connection to it."""
        await self.subject.close()
        if self.main is not None:
            await self.main.kill()

    @asynccontextmanager
    async def process(self, setup: Setup | None = None) -> AsyncIterator[tuple[Running, Subject]]:
        """Start a further process, wait until it answers, and end it afterwards.

        Raises:
            NotRun: there is no command to start it.
            Broken: it did not answer in time.
        """
        if self.launcher is None:
            raise NotRun("there is no --start-cmd")
        setup = setup or self.setup()
        running = await self.launcher.start(setup)
        subject = Subject(str(setup.listen), self.credentials, heartbeat=self.heartbeat)
        try:
            if not await self.answers(running, subject, self.options.patience.start):
                raise Broken("a process started by --start-cmd did not answer at its address")
            yield running, subject
        finally:
            await subject.close()
            await running.kill()

    async def ended(self, running: Running, seconds: float) -> int | None:
        """Wait until a process has ended, and give its exit code; None when it still runs, with patience."""
        return await self.heartbeat.within(seconds, running.ended)

    async def answers(self, running: Running, subject: Subject, seconds: float) -> bool:
        """Wait until a process can be connected to; False when it ends before, or does not answer in time."""
        return await self.heartbeat.within(seconds, lambda left: self._answers(running, subject, left))

    async def _answers(self, running: Running, subject: Subject, seconds: float) -> bool:
        connected = asyncio.ensure_future(subject.reachable(seconds))
        ended = asyncio.ensure_future(running.ended(seconds))
        await asyncio.wait({connected, ended}, return_when=asyncio.FIRST_COMPLETED)
        answered = connected.done() and connected.result()
        for one in (connected, ended):
            one.cancel()
        await asyncio.gather(connected, ended, return_exceptions=True)
        return answered

    @asynccontextmanager
    async def registry(self) -> AsyncIterator[OwnRegistry]:
        """Run a registry that the provisioner can trust.

        Raises:
            NotRun: the certificates are not for this machine.
        """
        host, credentials = "127.0.0.1", self.credentials
        if self.authority is not None:
            credentials = self.authority.issue(role="registry", name="conformance")
        elif credentials is not None:
            fitting = [name for name in ("127.0.0.1", "localhost") if name in credentials.hosts()]
            if not fitting:
                raise NotRun("the certificate in --tls-cert-dir is not for 127.0.0.1 or localhost")
            host = fitting[0]
        found = OwnRegistry(credentials=credentials, host=host, heartbeat=self.heartbeat)
        await found.start()
        try:
            yield found
        finally:
            await found.stop()


def certificate_folder(options: Options, folder: Path) -> Path | None:
    """Give the certificate directory of the processes that the suite starts."""
    if options.insecure:
        return None
    return options.tls_cert_dir or folder / "subject"
