"""Start the cloud-init provisioner."""

from slipway.provisioners.cloud_init.render import CloudInit
from slipway.sdk.command import run


def main() -> None:
    """Serve until told to stop; the command line is the SDK's."""
    run(CloudInit())


if __name__ == "__main__":
    main()
