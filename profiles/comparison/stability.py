"""What speaks against trusting a run's samples: drift, two levels, a falling clock, throttling, gaps of the host."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

import numpy as np

from profiles.comparison.figures import listed, percent, prose_time
from profiles.comparison.statistics import build_medians, tail
from profiles.results import Block, Metric, Run

SURE = 0.001
BUILDS_FOR_DRIFT = 6
CLOCK_CHANGE = 0.01
APART = 3.5
LEAST_SHARE = 0.1
SAMPLES_FOR_LEVELS = 20
OUTLIERS = 0.025
IQR_OF_NORMAL = 1.349
LEAST_GAP_NS = 5_000.0
GAPS = (("graph_time", 1.25, "as a graph"), ("traced_device_time", 2.0, "of kernels, copies and fills"))
"""What the GPU time is held against: the factor past which it is far longer. The traced pass runs with warm caches."""


def drift(metric: Metric) -> float:
    """ln of the second half's median ÷ the first half's, by the time of the samples; 0 where builds do not show it.

    Shown it is where the builds' medians follow time, or differ between the halves, with a chance below 0.1 % each
    (Student's t). Samples of one build are alike, so that they alone prove nothing.
    """
    ordered = _in_time(metric)
    if ordered is None:
        return 0.0
    samples, builds = ordered
    if not moves([math.log(value) for value in build_medians(samples, builds).values()]):
        return 0.0
    middle = len(samples) // 2
    return math.log(statistics.median(samples[middle:]) / statistics.median(samples[:middle]))


def moves(by_build: Sequence[float]) -> bool:
    """Whether values of builds, in the order of time, show a drift or a step."""
    return len(by_build) >= BUILDS_FOR_DRIFT and (_follows_time(by_build) or _halves_differ(by_build))


def two_levels(samples: Sequence[float]) -> tuple[float, float] | None:
    """The centres of two clusters of samples, where nearly all lie in one of two; None where they do not.

    The split is Otsu's (1979, IEEE Trans. SMC 9) on logarithms with outliers pulled in; the clusters must be apart by
    3.5 times the sum of their spreads, and neither holds less than a tenth. A clock's tick is a spread too.
    """
    positive = [sample for sample in samples if sample > 0]
    if len(positive) < SAMPLES_FOR_LEVELS:
        return None
    logs = np.sort(np.log(positive))
    logs = np.clip(logs, *np.quantile(logs, (OUTLIERS, 1 - OUTLIERS)))
    split = _split(logs)
    low, high = logs[:split], logs[split:]
    apart = float(np.median(high) - np.median(low))
    if apart <= 0 or apart < APART * max(_spread(low) + _spread(high), _tick(logs)):
        return None
    return math.exp(float(np.median(low))), math.exp(float(np.median(high)))


def sample_notes(run: Run, metric: Metric, moved: float, *, margin: float) -> tuple[str, ...]:
    """Of one run's samples, which drifted by `moved`; changes within the margin are not worth a word."""
    return (*_drifted(run.variant, moved, margin), *_levels(run.variant, metric, margin), *_gaps(run, metric))


def device_notes(blocks: Sequence[Block]) -> tuple[str, ...]:
    """`clock fell 4 %`, `throttled (power cap) in 3 of 40 blocks`; of all blocks of the runs that are compared."""
    ordered = sorted(blocks, key=lambda block: block.at_s)
    return (*_clock(ordered), *_throttled(ordered))


def _drifted(variant: str, moved: float, margin: float) -> Iterator[str]:
    if abs(moved) > math.log1p(margin):
        change = f"{'slower' if moved > 0 else 'faster'} by {percent(math.expm1(abs(moved)))}"
        yield f"{variant} grew {change} from the first half of its samples to the second"


def _levels(variant: str, metric: Metric, margin: float) -> Iterator[str]:
    levels = two_levels(metric.samples or ())
    if levels is not None and levels[1] / levels[0] > 1 + 2 * margin:
        yield f"the samples of {variant} lie on two levels, {prose_time(levels[0])} and {prose_time(levels[1])}"


def _gaps(run: Run, metric: Metric) -> Iterator[str]:
    """GPU time that is far longer than what the device did in it holds the host's gaps too."""
    for name, factor, words in GAPS if metric.name == "gpu_time" else ():
        done = run.metric(name)
        if done is not None and 0 < done.value < min(metric.value / factor, metric.value - LEAST_GAP_NS):
            times = f"{prose_time(metric.value)} of GPU time, {prose_time(done.value)} {words}"
            yield f"host gaps inside the window of {run.variant}: {times}"
            return


def _in_time(metric: Metric) -> tuple[list[float], list[int]] | None:
    """Samples and builds by the time of the samples; as they are listed where no times are kept."""
    samples, builds, times = metric.samples, metric.builds, metric.at_s
    if samples is None or builds is None or len(samples) != len(builds) or min(samples, default=0.0) <= 0:
        return None
    order = range(len(samples))
    if times is not None and len(times) == len(samples):
        order = sorted(order, key=times.__getitem__)  # type: ignore[assignment]
    return [samples[index] for index in order], [builds[index] for index in order]


def _follows_time(medians: Sequence[float]) -> bool:
    if len(set(medians)) < 2:
        return False
    correlation = statistics.correlation(range(len(medians)), medians)
    freedom = len(medians) - 2
    if correlation**2 >= 1:
        return True
    return tail(correlation * math.sqrt(freedom / (1 - correlation**2)), freedom) < SURE


def _halves_differ(medians: Sequence[float]) -> bool:
    middle = len(medians) // 2
    first, second = medians[:middle], medians[middle:]
    freedom = len(medians) - 2
    squares = sum(statistics.variance(half) * (len(half) - 1) for half in (first, second))
    error = math.sqrt(squares / freedom * (1 / len(first) + 1 / len(second)))
    step = statistics.fmean(second) - statistics.fmean(first)
    return step != 0 and (error == 0 or tail(step / error, freedom) < SURE)


def _split(logs: np.ndarray) -> int:
    """How many of the sorted values belong to the lower cluster: between the clusters the variance is greatest."""
    number = len(logs)
    least = max(2, math.ceil(LEAST_SHARE * number))
    below = np.arange(least, number - least + 1)
    sums = np.cumsum(logs)
    low = sums[below - 1] / below
    high = (sums[-1] - sums[below - 1]) / (number - below)
    return int(below[np.argmax(below * (number - below) * (high - low) ** 2)])


def _spread(logs: np.ndarray) -> float:
    quarter, three_quarters = np.quantile(logs, (0.25, 0.75))
    return float(three_quarters - quarter) / IQR_OF_NORMAL


def _tick(logs: np.ndarray) -> float:
    steps = np.diff(logs)
    return float(np.min(steps[steps > 0], initial=np.inf))


def _clock(ordered: Sequence[Block]) -> tuple[str, ...]:
    clocks = [block.sm_clock_mhz for block in ordered if block.sm_clock_mhz]
    third = len(clocks) // 3
    if not third:
        return ()
    before, after = statistics.median(clocks[:third]), statistics.median(clocks[-third:])
    change = after / before - 1
    if abs(change) < CLOCK_CHANGE:
        return ()
    return (f"clock {'fell' if change < 0 else 'rose'} {abs(change) * 100:.0f} %",)


def _throttled(ordered: Sequence[Block]) -> tuple[str, ...]:
    held = [block for block in ordered if block.throttle]
    if not held:
        return ()
    reasons = tuple(dict.fromkeys(reason.replace("_", " ") for block in held for reason in block.throttle))
    return (f"throttled ({listed(reasons)}) in {len(held):,} of {len(ordered):,} blocks",)
