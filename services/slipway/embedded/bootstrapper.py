"""A bootstrapper with its provisioners in this process, for commands and for a first try."""

from pathlib import Path

from slipway.bootstrapper.artifacts.agent import Artifacts
from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.compilation.compiler import Compiler
from slipway.bootstrapper.credentials.store import CredentialStore
from slipway.bootstrapper.delivery.fetching import Fetching
from slipway.bootstrapper.engines.table import installed_engines
from slipway.bootstrapper.engines.third_party import log_unusable
from slipway.bootstrapper.lowering.table import all_passes
from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.bootstrapper.policy import Policy
from slipway.bootstrapper.provisioning.provisioners import Provisioners
from slipway.contract.version import VERSION
from slipway.embedded.provisioners import embedded_provisioners
from slipway.embedded.settings import EmbeddedSettings


def served() -> dict[str, list[str]]:
    """Return the names of our own provisioners, each with its formats."""
    infos = (instance.info for instance in embedded_provisioners().instances())
    return {info.name: [declared.format for declared in info.formats] for info in infos}


def compiler(profiles: Path | None = None) -> Compiler:
    """Return the compiler of a bootstrapper; `profiles` is a directory with the operator's own OS profiles."""
    known = ProfileTable.extended(profiles) if profiles else ProfileTable.shipped()
    return Compiler(engines=installed_engines(), profiles=known, passes=all_passes())


def bootstrapper_of(
    settings: EmbeddedSettings, provisioners: Provisioners, *, store: CredentialStore | None = None
) -> Bootstrapper:
    """Return the bootstrapper of a server; engines that cannot be used are logged."""
    engines = installed_engines()
    log_unusable(engines.unusable)
    profiles = settings.profiles_dir
    return Bootstrapper(
        provisioners=provisioners,
        compiler=Compiler(
            engines=engines,
            profiles=ProfileTable.extended(profiles) if profiles else ProfileTable.shipped(),
            passes=all_passes(),
            takes_declared_profiles=settings.provisioner_profiles,
        ),
        version=VERSION,
        store=store,
        policy=settings.policy(),
        artifacts=settings.artifacts(),
        fetching=settings.fetching(),
        render_timeout=settings.render_timeout_seconds,
    )


def embedded_bootstrapper(
    *,
    store: CredentialStore | None,
    policy: Policy | None = None,
    profiles: Path | None = None,
    artifacts: Artifacts | None = None,
    fetching: Fetching | None = None,
) -> Bootstrapper:
    """Return a bootstrapper with everything in this process."""
    return Bootstrapper(
        provisioners=embedded_provisioners(),
        compiler=compiler(profiles),
        version=VERSION,
        store=store,
        policy=policy or Policy(),
        artifacts=artifacts or Artifacts(),
        fetching=fetching,
    )
