"""Foreign definitions of machines are read here and become neutral specs, so that nobody rewrites theirs.

Everything that enters is untrusted and is checked against its own schema first; whatever has no neutral
meaning is named with the place where it was written.
"""
