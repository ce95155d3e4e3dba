"""The config's ntp."""

from slipway.bootstrapper.importers.kubeadm_config.os_items import Ntp
from slipway.bootstrapper.importers.mapping.context import CLOUD_CONFIG, IGNITION, Context
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.bootstrapper.importers.mapping.raw_items import keep_ntp
from slipway.v1alpha1 import spec_pb2 as specpb


def set_ntp(context: Context, place: Place, ntp: Ntp, spec: specpb.MachineBootstrapSpec) -> None:
    """Carry over ntp; what today's formats do with `enabled: false` is said."""
    if ntp.enabled is False and context.format == CLOUD_CONFIG:
        message = "enabled: false leaves the image's own time synchronisation as it is, as it does today"
        context.findings.inform(place.at("enabled"), "NTP_LEFT_ALONE", message)
        return
    if keep_ntp(context, place, ntp, spec):
        return
    item = spec.os.ntp
    item.origin.CopyFrom(place.origin())
    if ntp.enabled is not None:
        item.enabled = ntp.enabled
        if not ntp.enabled and context.format == IGNITION:
            message = "enabled: false takes effect here; today's ignition output enables time synchronisation"
            context.findings.warn(place.at("enabled"), "NTP_HONOURED", message)
    for index, server in enumerate(ntp.servers):
        item.servers.append(context.plain(place.at("servers", index), server))
