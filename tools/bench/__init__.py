"""`make bench`: speed and size, measured on the machine it runs on."""
