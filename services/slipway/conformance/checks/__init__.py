"""The checks, a module for each thing that they are about."""
