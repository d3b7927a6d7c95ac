"""One file per family: a verbatim sample turn, where the facts come from, and `FORMAT`."""
