"""Provisioners in this process: no port, no certificate, no second process."""
