"""Builds the image and runs the whole compose file for real, since a file that was only read proves little."""
