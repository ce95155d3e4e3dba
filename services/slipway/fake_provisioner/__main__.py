"""The fake without the rest of the command line: python -m slipway.fake_provisioner --script FILE."""

from slipway.fake_provisioner.command import fake

if __name__ == "__main__":
    fake()
