"""Start the Windows provisioner."""

from slipway.provisioners.windows.provisioner import WindowsProvisioner
from slipway.sdk.command import run


def main() -> None:
    """Serve until told to stop; the command line is the SDK's."""
    run(WindowsProvisioner())


if __name__ == "__main__":
    main()
