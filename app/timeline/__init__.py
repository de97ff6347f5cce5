"""Timelines of several runs under each other on one time axis: a canvas in the browser, binary columns from a route."""
