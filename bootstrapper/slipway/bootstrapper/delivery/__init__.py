"""Brings user data into the shape and size in which an infrastructure takes it."""
