"""`make demo-node`: from the native example spec to a cluster of three machines that runs on this one."""
