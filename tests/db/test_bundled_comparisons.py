"""What a trial's comparisons say follows from its samples: a bundle carries them, the database does not."""

from pathlib import Path

import msgspec
import pytest

from db.bundles import export_comparison, import_bundle
from db.session import Database
from db.store import TraceStore
from profiles.bundle import read_bundle, write_bundle
from profiles.comparison.judgement import with_comparisons
from profiles.plan import Plan
from profiles.results import Metric, Results, Run, Trial
from profiles.verdict import Verdict
from tests.db.examples import H200, attention, measured


def timed(variant: str, time_ns: float) -> Run:
    """In eight builds of three samples each, close together."""
    samples = tuple(time_ns * (1 + 1e-4 * ((7 * n) % 5)) for n in range(24))
    metric = Metric(
        name="gpu_time",
        unit="ns",
        statistic="median",
        value=time_ns,
        samples=samples,
        builds=tuple(n // 3 for n in range(24)),
        at_s=tuple(float(n) for n in range(24)),
    )
    return msgspec.structs.replace(measured(variant), metrics=(metric,))


@pytest.mark.parametrize("twins", [False, True])
def test_an_export_says_the_same_of_the_variants_as_the_bundle_that_was_imported(
    sqlite_database: Database, tmp_path: Path, twins: bool
) -> None:
    runs: tuple[Run, ...] = (timed("naive", 2000.0), timed("naive_inplace", 1000.0))
    if twins:
        runs = tuple(msgspec.structs.replace(run, twin=run.metrics) for run in runs)
    trial = Trial(workload=attention(), runs=runs)
    results = Results(preset=None, plan=Plan(), environment=H200, trials=(trial,), name="Ladder")
    told = with_comparisons(results, twins=twins)
    verdicts = {one.verdict for one in told.trials[0].comparisons}
    assert verdicts == ({Verdict.EQUIVALENT} if twins else {Verdict.FASTER})
    write_bundle(tmp_path / "in", told, {})
    store = TraceStore((tmp_path / "traces").as_uri())
    made = import_bundle(sqlite_database, store, tmp_path / "in").comparison_ids[0]
    export_comparison(sqlite_database, store, made, tmp_path / "out")
    assert read_bundle(tmp_path / "out").results == (told,)
