"""Turns a spec and the facts of cluster and machine into the neutral bundle of one machine. Pure: no I/O, no clock."""
