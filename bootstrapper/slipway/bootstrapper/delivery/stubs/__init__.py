"""User data that only fetch the real ones, and verify them: small, and without any secret of the cluster."""
