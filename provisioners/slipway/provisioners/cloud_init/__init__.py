"""cloud-init: a bundle becomes one `#cloud-config` document.

Only what the real program does right, and before the entry point, is native. Where one of its modules fails,
cloud-init goes on and still says "done": so whatever the runner can do as well is left to lowering, which
stops on failure.
"""
