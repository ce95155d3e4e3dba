"""Makes signed releases of the node agent."""
