"""Makes the TLS certificates of an installation that has no certificate manager: a try, a compose file, a test."""
