"""Signed releases of programs that machines download: whom to trust, which versions there are, and what each holds."""
