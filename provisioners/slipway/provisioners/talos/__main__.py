"""Start the Talos provisioner."""

from slipway.provisioners.talos.provisioner import TalosProvisioner
from slipway.sdk.command import run


def main() -> None:
    """Serve until told to stop; the command line is the SDK's."""
    run(TalosProvisioner())


if __name__ == "__main__":
    main()
