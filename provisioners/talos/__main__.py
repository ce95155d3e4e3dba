"""Start the Talos provisioner."""

from provisioners.sdk.command import run
from provisioners.talos.provisioner import TalosProvisioner


def main() -> None:
    """Serve until told to stop; the command line is the SDK's."""
    run(TalosProvisioner())


if __name__ == "__main__":
    main()
