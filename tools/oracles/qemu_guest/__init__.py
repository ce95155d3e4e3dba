"""What runs inside of a machine in qemu: the harness copies these files there, and imports none of them."""
