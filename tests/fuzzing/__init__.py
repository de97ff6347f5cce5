"""Inputs that no honest profiler writes, made from seeds, and what must hold of each: `make fuzz` runs many of them."""
