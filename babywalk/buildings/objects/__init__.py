"""View features computed from object boxes, room classes and the navigation graph."""
