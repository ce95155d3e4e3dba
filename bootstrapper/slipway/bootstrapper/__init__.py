"""Spec to bundle to user data. Never imports a provisioner: it only speaks the contract."""
