"""Recorded timelines: foreign formats into one normal form, what they say per step, and what is wrong with them."""
