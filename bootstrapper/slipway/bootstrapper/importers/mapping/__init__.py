"""A checked KubeadmConfigSpec becomes a neutral spec here, item by item, each with the place where it was written."""
