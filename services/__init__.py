"""What every server shares, and the services that are neither bootstrapper nor provisioner."""
