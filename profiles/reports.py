"""What the commands print with `--json`, as typed records; measurements themselves are `profiles.results`.

Fields may be added, never change their meaning; what is unknown is None. No torch here.
"""

from __future__ import annotations

import msgspec

from profiles.environment import Environment
from profiles.results import SCHEMA, Run
from profiles.verdict import VariantComparison
from profiles.workload import AxisValue, Workload


class CatalogueAxis(msgspec.Struct, frozen=True, kw_only=True):
    """`choices` is None where any whole number (or true and false) is accepted."""

    default: AxisValue
    meaning: str
    choices: tuple[str, ...] | None = None


class CatalogueImplementation(msgspec.Struct, frozen=True, kw_only=True):
    """`available`: in at least one execution, on at least one device of this machine; else `reason` says why not.

    `refused_executions` has the reason of each execution that no device can run.
    """

    name: str
    executions: tuple[str, ...]
    available: bool
    reason: str | None
    refused_executions: dict[str, str]
    note: str


class CatalogueOperation(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    stages: tuple[str, ...]
    axes: dict[str, CatalogueAxis]
    implementations: tuple[CatalogueImplementation, ...]


class CataloguePreset(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    question: str


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """What `fusescope catalog --json` prints."""

    operations: tuple[CatalogueOperation, ...]
    presets: tuple[CataloguePreset, ...]


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    """What `fusescope submit --json` prints: ids of the database, and the job's status when it was printed.

    `published` is False where the queue did not answer; a worker finds the trials within a minute all the same.
    """

    job: int
    comparison: int
    trials: tuple[int, ...]
    status: str
    published: bool


class ComparedVariant(msgspec.Struct, frozen=True, kw_only=True):
    """One row. `speed_up` is baseline ÷ variant: that of `comparison`, over builds, and without one that of medians.
    `apart` says whether the two spreads (p25–p75) are. `of_limit` is the share of the measured time that the longest of
    the device's limits alone would need, `bound` which kind of limit the run is near to, `limit` the sum in words."""

    key: str
    variant: str
    source: str
    state: str
    baseline: bool
    speed_up: float | None
    apart: bool | None
    comparison: VariantComparison | None = None
    of_limit: float | None = None
    bound: str | None = None
    limit: str | None = None
    environment: Environment | None
    run: Run | None


class ComparedWorkload(msgspec.Struct, frozen=True, kw_only=True):
    """`by` is the metric that is compared; the rows have the baseline first, then the fastest. `comparisons` are those
    with this baseline by every repeated time; a family that is corrected together is one time over all workloads."""

    workload: Workload
    by: str
    answer: str
    caveat: str | None
    rows: tuple[ComparedVariant, ...]
    comparisons: tuple[VariantComparison, ...] = ()


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """What `fusescope compare --json` prints."""

    schema: int = SCHEMA
    workloads: tuple[ComparedWorkload, ...]


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What `fusescope import --json` prints for each bundle: how many of its runs are new, and how many were known; how
    many traces its runs name that are neither in it nor here, and how many raw files are kept again."""

    file: str
    comparisons: tuple[int, ...]
    runs_new: int
    runs_known: int
    traces_missing: int = 0
    raw_returned: int = 0


class ImportedTraceFile(msgspec.Struct, frozen=True, kw_only=True):
    """What `fusescope import --json` prints for each trace: `trace` is the imported trace's number, `known` whether its
    bytes were imported before, `raw_returned` whether its raw file was no longer kept and is again, `comparison` the
    one that shows the traces of this call."""

    file: str
    trace: int
    known: bool
    comparison: int
    raw_returned: bool = False


class TraceWorker(msgspec.Struct, frozen=True, kw_only=True):
    """What `fusescope worker --traces --json` prints as it starts: the queue that it reads."""

    reads: str


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """What `fusescope export --json` prints. `left_out` counts entries without a run, `traces_missing` and
    `artefacts_missing` raw traces and files of generated code that are not kept any more, `traces_removed` those of the
    raw traces that were removed because this server keeps them for a limited time."""

    file: str
    comparison: int
    size_bytes: int
    runs: int
    left_out: int
    traces: int
    traces_missing: int
    artefacts: int = 0
    artefacts_missing: int = 0
    traces_removed: int = 0


class Reproduced(msgspec.Struct, frozen=True, kw_only=True):
    """What `fusescope reproduce --json` prints: the script of the run that is `key` in the file, and where it was
    written (None: nowhere)."""

    file: str
    key: str
    variant: str
    workload: Workload
    filename: str
    output: str | None
    script: str


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One line of `fusescope doctor`: `state` is `ok`, `warn` (works, but not all of it) or `fail`."""

    name: str
    state: str
    found: str
    remedy: str | None = None


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """What `fusescope doctor --json` prints."""

    checks: tuple[Check, ...]


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What `fusescope up --json` prints, once for each thing that happens."""

    message: str
    host: str
    port: int
    state: str
