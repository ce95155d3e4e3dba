"""Certificate authorities of downloads. Ignition has one list of them for a whole config: all downloads must agree."""

from slipway.provisioners.ignition.document import Security, Tls
from slipway.provisioners.ignition.resources import resource
from slipway.sdk import RenderContext
from slipway.v1alpha1 import bundle_pb2 as bundlepb

_FEATURE = "os.files.remote.ca"


def security(bundle: bundlepb.BootstrapBundle, ctx: RenderContext) -> Security | None:
    """Give the authorities that vouch for the servers of all downloads, or None where none has its own.

    A file with authorities is refused where another download, which did not ask for them, would trust them, too. What
    an extension downloads is not known here.
    """
    remotes = {f"os.files[{index}]": file.remote for index, file in enumerate(bundle.os.files)}
    secured = {where for where, remote in remotes.items() if any(url.startswith("https:") for url in remote.urls)}
    own = [where for where, remote in remotes.items() if remote.HasField("ca")]
    if not own:
        return None
    authorities = {ctx.content(remotes[where].ca, f"{where}.remote.ca") for where in own}
    if secured != set(own) or len(authorities) > 1 or bundle.extensions:
        for where in own:
            why = "Ignition would trust these authorities for other downloads as well"
            ctx.refuse(where, _FEATURE, why if where in secured else "no server of it shows a certificate")
        return None
    return Security(tls=Tls(certificate_authorities=[resource(authorities.pop())]))
