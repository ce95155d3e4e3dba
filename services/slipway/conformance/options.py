"""What the user of the suite says."""

from dataclasses import dataclass
from pathlib import Path

from slipway.v1alpha1 import spec_pb2 as specpb


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the suite waits for what the contract asks for, in seconds. Only tests of the suite itself change it.

    Attributes:
        reach: until an endpoint answers that runs already.
        start: until a process answers.
        refusal: until a process that must not start has ended.
        end: from SIGTERM to the end of the process (TRN-018).
        reload: until a renewed certificate is shown.
        back: until it is registered again, after the registry was away (REG-007).
        render: most time of one render (LIM-006).
        busy: by how much a busy machine may delay what is asked for at once.
    """

    reach: float = 5.0
    start: float = 20.0
    refusal: float = 15.0
    end: float = 30.0
    reload: float = 10.0
    back: float = 15.0
    render: float = 10.0
    busy: float = 1.0


@dataclass(frozen=True, slots=True)
class Options:
    """How to reach the provisioner, and what to do beyond that.

    Attributes:
        endpoint: "host:port"; empty to have a free port chosen for `start_cmd`.
        tls_cert_dir: the suite's own certificates; None without TLS, or to have them made for `start_cmd`.
        insecure: no TLS.
        start_cmd: program and arguments that start the provisioner; empty when it runs already.
        decode_cmd: program and arguments that turn user data into a MachineState in JSON; empty for the suite's own.
        boot_cmd: program and arguments that boot a machine with user data and write the MachineState of what it became;
            empty where no machine is booted.
        boot_seconds: time for one such boot.
        profiles: ids of the chapters that are tried; empty for all.
        core_only: only the core features of each form, and not every declared one.
        trust_domain: trust domain of the certificates.
        renders: how many renders the load check makes.
        seconds: time for all checks; those that it does not suffice for are not run. 0 for no limit.
        keep: folder for what was asked and answered in checks that fail; None to keep nothing.
        extensions: a document or more of extensions that the provisioner takes.
        patience: how long to wait for what.
    """

    endpoint: str = ""
    tls_cert_dir: Path | None = None
    insecure: bool = False
    start_cmd: tuple[str, ...] = ()
    decode_cmd: tuple[str, ...] = ()
    boot_cmd: tuple[str, ...] = ()
    boot_seconds: float = 600.0
    profiles: tuple[str, ...] = ()
    core_only: bool = False
    trust_domain: str = "slipway"
    renders: int = 300
    seconds: float = 0.0
    keep: Path | None = None
    extensions: tuple[specpb.Extension, ...] = ()
    patience: Patience = Patience()
