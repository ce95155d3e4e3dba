"""`make demo`: the main job from nothing, with what nobody else shows at the end."""
