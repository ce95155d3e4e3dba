"""The provisioners: each makes user data for one first-boot system, and knows nothing of the others."""
