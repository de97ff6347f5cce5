"""The measuring child: builds, checks, times and traces the variants of one trial on one device.

`python -m profiles.measure SPEC.json` is its only door. The first process of the child imports torch and touches no
device; the processes that it forks do all the work, so that each variant's first call is the first of its process and
no variant can take the others with it.
"""
