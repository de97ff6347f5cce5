"""Reproducers: one run as one Python file that needs torch alone.

The file's operation (inputs, implementation, reference) and its timing are taken from our own source text, so that it
cannot drift from what is measured; nothing here imports torch or the modules that it reads.
"""
