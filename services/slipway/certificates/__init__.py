"""Makes the TLS certificates of an installation that has no certificate manager, in a directory or in Secrets."""
