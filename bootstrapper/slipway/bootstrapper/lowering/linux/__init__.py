"""Passes for Linux, each beside those of its kind.

They are apart from the passes of other families because they share one promise: whatever they emit is a file, or a step
that systemd Linux of every distribution can carry out with the programs that its OS profile names.
"""
