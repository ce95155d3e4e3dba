"""Configs whose machines report to their own cluster: remembered, so that no spec has to be read again for that."""

from collections.abc import Iterator

from slipway.controller.data_secret import Record
from slipway.controller.opt_in.reporting import reports_to_cluster
from slipway.controller.owner import MACHINE, Owner, owner_reference
from slipway.controller.workload_reports import ReportingMachine
from slipway.kubernetes_api.informer import Informer, Key
from slipway.kubernetes_api.resources import KUBEADM_CONFIGS, Json, Resource


class ReportingConfigs:
    """These configs, with the Machine of each."""

    def __init__(self) -> None:
        """Know no config yet."""
        self._machines: dict[Key, str] = {}

    def update(self, config: Json, resource: Resource) -> None:
        """Remember the Machine of a config, or forget the config where its Machine reports elsewhere."""
        key = config["metadata"]["namespace"], config["metadata"]["name"]
        reference = owner_reference(config)
        if reference is not None and reference[0] == MACHINE and _reports_to_cluster(config, resource):
            self._machines[key] = reference[1]
        else:
            self.forget(key)

    def forget(self, key: Key) -> None:
        """Forget a config that is gone."""
        self._machines.pop(key, None)

    def machines(self, machines: Informer, secrets: Informer) -> Iterator[ReportingMachine]:
        """Give the Machines whose user data are stored."""
        for key, name in self._machines.items():
            machine, secret = machines.get(key[0], name), secrets.get(*key)
            record = None if secret is None else Record.of_secret(secret)
            if machine is not None and record is not None:
                owner = Owner(machine)
                yield ReportingMachine(key[0], owner.cluster_name, name, record.bundle_id, owner.joined)


def _reports_to_cluster(config: Json, resource: Resource) -> bool:
    if resource == KUBEADM_CONFIGS:
        return reports_to_cluster(config)
    reporting = (config.get("spec") or {}).get("reporting") or {}
    return any("workloadCluster" in sink for sink in reporting.get("sinks") or ())
