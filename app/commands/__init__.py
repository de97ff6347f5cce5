"""The commands of `fusescope`, in the order in which its help lists them."""

from __future__ import annotations

from app.commands.command import Command

COMMANDS = (
    Command("up", "app.commands.up", "run everything on this machine: pages, queue, one worker per device"),
    Command("worker", "app.commands.worker", "run one worker, for one device or for reading traces"),
    Command("run", "app.commands.run", "measure a preset here and now, without server or database"),
    Command("submit", "app.commands.submit", "submit a preset as a job"),
    Command("compare", "app.commands.compare", "show variants of bundles or stored comparisons side by side"),
    Command("reproduce", "app.commands.reproduce", "write one run as a Python script that needs torch alone"),
    Command("trace", "app.commands.trace", "summarise a profiler trace"),
    Command("import", "app.commands.import_files", "store bundles of results, and traces from elsewhere"),
    Command("export", "app.commands.export_bundle", "write a stored comparison to a bundle"),
    Command("catalog", "app.commands.catalog", "list what can be measured, and what this machine can run of it"),
    Command("doctor", "app.commands.doctor", "check this machine, and say how to mend what is missing"),
)
