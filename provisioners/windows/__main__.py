"""Start the Windows provisioner."""

from provisioners.sdk.command import run
from provisioners.windows.provisioner import WindowsProvisioner


def main() -> None:
    """Serve until told to stop; the command line is the SDK's."""
    run(WindowsProvisioner())


if __name__ == "__main__":
    main()
