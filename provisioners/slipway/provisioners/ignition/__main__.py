"""Start the Ignition provisioner."""

from slipway.provisioners.ignition.render import IgnitionProvisioner
from slipway.sdk.command import run


def main() -> None:
    """Serve until told to stop; the command line is the SDK's."""
    run(IgnitionProvisioner())


if __name__ == "__main__":
    main()
