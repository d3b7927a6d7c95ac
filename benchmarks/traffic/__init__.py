"""Both ends of a gateway under measurement: an engine that costs next to nothing, and clients that cost hardly more."""
