"""View features from object annotations: what stands where, in which room, and how far one can go."""
