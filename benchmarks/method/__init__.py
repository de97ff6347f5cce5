"""The measuring method's own checks: false verdicts, injected work, distance to the profilers' times, overhead.

`python -m benchmarks.method NAME --device cuda:0 --seconds 60 [--output FILE.json]`; the figures in docs/measuring.md
come from these commands. On a CPU the same checks run on small functions.
"""
