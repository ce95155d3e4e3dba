"""The fake without the rest of the command line: python -m tools.fake_provisioner --script FILE."""

from tools.fake_provisioner.command import fake

if __name__ == "__main__":
    fake()
