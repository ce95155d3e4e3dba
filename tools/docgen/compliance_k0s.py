"""Which controls do not apply to a machine of the engine k0s, and why: they are about files that only kubeadm has."""

from collections.abc import Iterator

from slipway.bootstrapper.compliance.profile import Control, Files, Profile
from slipway.bootstrapper.compliance.profile_table import profiles
from tools.docgen.markdown import code, table

_PLACES = {
    "/etc/kubernetes/manifests": "there are no static pods",
    "/etc/kubernetes/": "keys and kubeconfigs are below `/var/lib/k0s/pki`, and others of k0s' own",
    "{etcd}": "the data of etcd are below `/var/lib/k0s/etcd`",
    "/etc/systemd/system/kubelet.service": "k0s runs the kubelet, and not systemd",
    "/usr/lib/systemd/system/kubelet.service": "k0s runs the kubelet, and not systemd",
    "/var/lib/kubelet/config.yaml": "the kubelet is configured by k0s, below `/var/lib/k0s`",
}
INTRODUCTION = """\
Settings of the components, of the kubelet and of the kernel are applied and checked as with kubeadm. These controls
are about files that a machine of the engine `k0s` does not have: their evidence is `not-applicable`, and nothing of
k0s' own files is checked in their place."""


def k0s_section() -> str:
    """Give the section of the page."""
    rows = [
        [code(f"{profile.name}/{control.id}"), control.title, "; ".join(dict.fromkeys(_reasons(control)))]
        for profile in profiles().values()
        for control in inapplicable(profile)
    ]
    return f"## With the engine k0s\n\n{INTRODUCTION}\n\n{table(['Control', 'Title', 'Reason'], rows)}"


def inapplicable(profile: Profile) -> list[Control]:
    """Give the controls of a profile that do not apply: each file that they are about is one of kubeadm's."""
    return [
        control
        for control in profile.controls
        if control.requires and len(list(_reasons(control))) == sum(map(_number_of_files, control.requires))
    ]


def _number_of_files(demand: object) -> int:
    return len(demand.files) if isinstance(demand, Files) else 1


def _reasons(control: Control) -> Iterator[str]:
    for demand in control.requires:
        for pattern in demand.files if isinstance(demand, Files) else ():
            reason = next((reason for place, reason in _PLACES.items() if pattern.startswith(place)), "")
            if reason:
                yield reason
