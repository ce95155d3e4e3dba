"""Trials of bootstrap engines in processes of their own, for the test kit; an engine does nothing of the kind."""
