"""Ceilings: once per environment, and with every run that was measured in it."""

from pathlib import Path

import msgspec
from sqlalchemy import update

from db.bundles import export_comparison, import_bundle
from db.ceilings import environments_with_ceilings, store_ceilings
from db.comparisons import comparison
from db.models import EnvironmentRow
from db.session import Database
from db.store import TraceStore
from profiles.bundle import read_bundle, write_bundle
from profiles.ceilings import Bandwidth, Ceilings, MatmulRate
from profiles.plan import Plan
from profiles.results import Results, Trial
from profiles.workload import DType
from tests.db.examples import CPU, H200, attention, measure, measured

FIRST = Ceilings(
    bandwidths=(Bandwidth(size_bytes=1 << 30, read_share=0.5, gb_per_s=4312.5),),
    matmuls=(MatmulRate(dtype=DType.BF16, size=8192, tflop_per_s=716.0),),
    launch_ns=1234.5,
    l2_bytes=60 << 20,
)
LATER = Ceilings(exp_per_s=1e12)


def shown(database: Database, comparison_id: int) -> list[Ceilings | None]:
    return [entry.ceilings for entry in comparison(database, comparison_id).entries]


def test_the_first_ceilings_of_an_environment_stay(database: Database) -> None:
    job = measure(database, measured("naive"), measured("sdpa_flash"), environment=H200)
    assert shown(database, job.comparison_id) == [None, None]
    store_ceilings(database, H200, FIRST)
    store_ceilings(database, H200, LATER)
    assert shown(database, job.comparison_id) == [FIRST, FIRST]


def test_ceilings_may_come_before_the_first_run_and_are_no_other_environments(database: Database) -> None:
    store_ceilings(database, H200, FIRST)
    assert shown(database, measure(database, measured("naive"), environment=H200).comparison_id) == [FIRST]
    assert shown(database, measure(database, measured("naive"), environment=CPU).comparison_id) == [None]


def test_environments_with_ceilings_are_known_by_their_digests(database: Database) -> None:
    measure(database, measured("naive"), environment=CPU)
    measure(database, measured("naive"), environment=H200)
    assert environments_with_ceilings(database) == ()
    store_ceilings(database, H200, FIRST)
    assert environments_with_ceilings(database) == (H200.digest,)


def test_a_bundle_brings_ceilings_and_takes_them_along(database: Database, tmp_path: Path) -> None:
    store = TraceStore((tmp_path / "traces").as_uri())
    trial = Trial(workload=attention(), runs=(measured("naive"),))
    results = Results(preset=None, plan=Plan(), environment=H200, trials=(trial,), name="H200", ceilings=FIRST)
    write_bundle(tmp_path / "first", results, {})
    write_bundle(tmp_path / "later", msgspec.structs.replace(results, ceilings=LATER), {})
    made = import_bundle(database, store, tmp_path / "first").comparison_ids[0]
    assert import_bundle(database, store, tmp_path / "later").comparison_ids == (made,)
    assert shown(database, made) == [FIRST]
    export_comparison(database, store, made, tmp_path / "out")
    assert read_bundle(tmp_path / "out").results == (results,)


def test_a_worker_measures_its_own_where_the_ceilings_came_with_a_bundle(database: Database, tmp_path: Path) -> None:
    store = TraceStore((tmp_path / "traces").as_uri())
    trial = Trial(workload=attention(), runs=(measured("naive"),))
    results = Results(preset=None, plan=Plan(), environment=H200, trials=(trial,), name="H200", ceilings=LATER)
    write_bundle(tmp_path / "bundle", results, {})
    made = import_bundle(database, store, tmp_path / "bundle").comparison_ids[0]
    assert shown(database, made) == [LATER]
    assert environments_with_ceilings(database) == ()
    store_ceilings(database, H200, FIRST)
    assert shown(database, made) == [FIRST]
    assert environments_with_ceilings(database) == (H200.digest,)
    import_bundle(database, store, tmp_path / "bundle")
    assert shown(database, made) == [FIRST]


def test_of_ceilings_that_older_versions_stored_nobody_knows_who_measured_them(database: Database) -> None:
    job = measure(database, measured("naive"), environment=H200)
    with database.begin() as session:
        session.execute(update(EnvironmentRow).values(ceilings=LATER))
    assert shown(database, job.comparison_id) == [LATER]
    assert environments_with_ceilings(database) == ()
    store_ceilings(database, H200, FIRST)
    assert shown(database, job.comparison_id) == [FIRST]


def test_a_known_run_that_comes_with_ceilings_brings_them(database: Database, tmp_path: Path) -> None:
    store = TraceStore((tmp_path / "traces").as_uri())
    trial = Trial(workload=attention(), runs=(measured("naive"),))
    without = Results(preset=None, plan=Plan(), environment=H200, trials=(trial,), name="H200")
    write_bundle(tmp_path / "without", without, {})
    write_bundle(tmp_path / "with", msgspec.structs.replace(without, ceilings=FIRST), {})
    made = import_bundle(database, store, tmp_path / "without").comparison_ids[0]
    assert import_bundle(database, store, tmp_path / "with").comparison_ids == (made,)
    assert shown(database, made) == [FIRST]
