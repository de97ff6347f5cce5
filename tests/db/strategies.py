"""Any run that results can hold: whatever the types allow, and nothing that JSON does not."""

from __future__ import annotations

from hypothesis import strategies as st

from profiles.results import (
    Conditions,
    Correctness,
    Counts,
    Failure,
    FailureKind,
    Finding,
    KernelUse,
    Metric,
    Receipt,
    Role,
    Run,
    RunStatus,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["\0", "\ue000", "\ue000\ue001", "\ue0011\0\0", "void kernel<float, 4>(int*)", "%_\\", "'\"", "µs × –", "𝛼"]
)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.integers(-(2**63) + 1, 2**63 - 1)
SMALL = st.integers(0, 2**31)


def maybe(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | strategy


def tuples(strategy: st.SearchStrategy[object], most: int = 3) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(strategy, max_size=most).map(tuple)


METRICS = st.builds(
    Metric,
    name=TEXT,
    unit=TEXT,
    statistic=TEXT,
    value=NUMBER,
    low=maybe(NUMBER),
    high=maybe(NUMBER),
    interval=maybe(TEXT),
    samples=maybe(tuples(NUMBER)),
    doubt=maybe(TEXT),
)
KERNELS = st.builds(
    KernelUse,
    name=TEXT,
    short_name=TEXT,
    role=st.sampled_from(Role),
    stages=tuples(TEXT),
    calls=WHOLE,
    total_ns=WHOLE,
    min_ns=WHOLE,
    max_ns=WHOLE,
    position=WHOLE,
)
COUNTS = st.builds(
    Counts,
    kernels=maybe(SMALL),
    memcpy=maybe(SMALL),
    memset=maybe(SMALL),
    launches=maybe(SMALL),
    graph_launches=maybe(SMALL),
    operators=maybe(SMALL),
    unstable=maybe(tuples(SMALL)),
)
CORRECTNESS = st.builds(
    Correctness,
    relative_l2=maybe(NUMBER),
    max_abs=maybe(NUMBER),
    nonfinite=SMALL,
    tolerance=NUMBER,
    passed=st.booleans(),
)
RECEIPTS = st.builds(
    Receipt,
    asked=TEXT,
    ran=maybe(TEXT),
    fell_back=st.booleans(),
    order=maybe(tuples(TEXT)),
    refusals=st.dictionaries(TEXT, TEXT, max_size=3),
    detail=maybe(TEXT),
)
FINDINGS = st.builds(Finding, code=TEXT, message=TEXT, count=SMALL, doubtful=tuples(TEXT))
CONDITIONS = st.builds(
    Conditions,
    host=maybe(TEXT),
    started_at=maybe(TEXT | st.datetimes(timezones=st.timezones()).map(lambda when: when.isoformat())),
    duration_s=maybe(NUMBER),
    sm_clock_mhz=maybe(SMALL),
    temperature_c=maybe(SMALL),
    commit=maybe(TEXT),
)
RUNS = st.builds(
    Run,
    variant=st.just("naive"),
    status=st.sampled_from(RunStatus),
    failure=maybe(st.builds(Failure, kind=st.sampled_from(FailureKind), message=TEXT)),
    metrics=tuples(METRICS),
    counts=maybe(COUNTS),
    correctness=maybe(CORRECTNESS),
    receipt=maybe(RECEIPTS),
    trace_health=tuples(FINDINGS),
    kernels=tuples(KERNELS, most=4),
    trace=maybe(st.just("ab" * 32)),
    conditions=maybe(CONDITIONS),
)
