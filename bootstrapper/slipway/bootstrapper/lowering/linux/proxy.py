"""HTTP proxies of the container runtime and the kubelet: a drop-in for each service.

containerd's own proxy (`containerd.proxy`) sorts behind the one for both, and sets every variable, so that it wins
whichever of the two was lowered first.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

from slipway.bootstrapper.lowering.draft import PRIVATE, PUBLIC, Draft
from slipway.bootstrapper.lowering.emission import put_file
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.linux.systemd_units import environment_drop_in
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

ID = "linux.proxy"


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Write the drop-ins; a service that runs already is started anew."""
    (item,) = items
    runtime = needed(draft.profile.containerd, item).service
    kubelet = needed(draft.profile.kubelet, item)
    systemd = needed(draft.profile.systemd_directory, item)
    text, mode = environment_drop_in(variables(item.message)), drop_in_mode(item.message)
    put_file(draft, item, f"{systemd}/{runtime}.d/10-slipway-proxy.conf", text, by=ID, mode=mode)
    put_file(draft, item, f"{needed(kubelet.drop_in_directory, item)}/10-slipway-proxy.conf", text, by=ID, mode=mode)
    calls = [["systemctl", "daemon-reload"], ["settle", "systemctl", "try-restart", runtime, kubelet.service]]
    restart = script(calls, programs=["settle"])
    draft.step(Rank.SYSTEMD_UNITS, "proxy", source=item.message, by=ID, script=restart)


def drop_in_mode(proxy: ospb.Proxy) -> int:
    """Give the mode of a file with the URLs of a proxy: what is before an @ in them is a user and a password."""
    has_password = any("@" in urlsplit(url).netloc for url in (proxy.http_proxy, proxy.https_proxy))
    return PRIVATE if has_password else PUBLIC


def variables(proxy: ospb.Proxy, *, complete: bool = False) -> dict[str, str]:
    """Give the environment variables of a proxy; with `complete` those that are not set are there as well, empty."""
    wanted = {
        "HTTP_PROXY": proxy.http_proxy,
        "HTTPS_PROXY": proxy.https_proxy,
        "NO_PROXY": ",".join(proxy.no_proxy),
    }
    return {name: value for name, value in wanted.items() if value or complete}
