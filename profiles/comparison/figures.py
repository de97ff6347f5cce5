"""Numbers as the comparison's sentences write them: one style for the page, the command line and stored answers."""

from __future__ import annotations

from dataclasses import dataclass

from profiles import catalog
from profiles.workload import Workload

NS_PER_US = 1_000.0
NS_PER_MS = 1_000_000.0
NS_PER_S = 1_000_000_000.0
MIB = 1 << 20
CLOSE_PLACES, CLOSE, FAR = 3, 1.2, 1.995


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """The unit of one column of times: µs for operators, ms for whole models."""

    symbol: str
    ns: float
    decimals: int

    def write(self, ns: float) -> str:
        return f"{ns / self.ns:,.{self.decimals}f}"

    def span(self, low_ns: float, high_ns: float) -> str:
        """A range; written once where both ends read the same."""
        low, high = self.write(low_ns), self.write(high_ns)
        return low if low == high else f"{low}–{high}"


MICROSECONDS = TimeUnit("µs", NS_PER_US, 1)
MILLISECONDS = TimeUnit("ms", NS_PER_MS, 2)


def time_unit(workload: Workload) -> TimeUnit:
    return MICROSECONDS if catalog.operation(workload.operation).stages else MILLISECONDS


def digits(value: float) -> str:
    """Three significant digits above 1, two decimals below, thousands whole: `25.4`, `7.60`, `0.45`, `1,240`."""
    return f"{value:,.{_places(value)}f}" if value >= 0.0995 else f"{value:.2g}"


def ratio(value: float) -> str:
    """`25.4×`."""
    return f"{digits(value)}×"


def ratio_range(low: float, high: float, *, places: int | None = None) -> str:
    """`25.3–25.5×`, with `places` decimals or three significant digits; more where both ends would read the same."""
    for more in range(3):
        ends = [_bound(end, (_places(end) if places is None else places) + more) for end in (low, high)]
        if ends[0] != ends[1]:
            break
    return f"{'–'.join(dict.fromkeys(ends))}×"


def close_ratio(value: float, low: float | None = None, high: float | None = None) -> str:
    """`1.012× (0.996–1.028×)`, of variants that may be alike: near 1, two decimals would hide what the margin is about.
    Far from it as any other ratio."""
    interval = close_range(low, high)
    written = f"{value:.{CLOSE_PLACES}f}×" if value < FAR else ratio(value)
    return written if interval is None else f"{written} ({interval})"


def close_range(low: float | None, high: float | None) -> str | None:
    """The interval of such a ratio; None where none is known."""
    if low is None or high is None:
        return None
    return ratio_range(low, high, places=CLOSE_PLACES if high < CLOSE * low and low < FAR else None)


def percent_range(low: float, high: float) -> str:
    """Of shares: `1.5–1.9 %`; `17–19 %` where that tells the ends apart."""
    for decimals in (0, 1, 2) if low >= 0.0995 else (1, 2):
        ends = f"{low * 100:,.{decimals}f}", f"{high * 100:,.{decimals}f}"
        if ends[0] != ends[1]:
            return f"{ends[0]}–{ends[1]} %"
    return f"{ends[0]} %"


def percent(share: float) -> str:
    """A share of one, as in prose."""
    value = share * 100
    return f"{value:.1f} %" if value < 9.95 else f"{value:,.0f} %"


def mib(size_bytes: float) -> str:
    """MiB as a bare number; below 10 with one decimal, where it is not whole; never 0 for what is not nothing."""
    value = size_bytes / MIB
    if 0 < value < 0.095:
        return f"{value:.2g}"
    return f"{value:,.0f}" if value >= 9.95 or value == round(value) else f"{value:.1f}"


def prose_time(ns: float) -> str:
    """A time in the unit that suits it: `178.5 µs`, `47.8 ms`, `8.20 s`."""
    if ns >= NS_PER_S:
        return f"{digits(ns / NS_PER_S)} s"
    return f"{digits(ns / NS_PER_MS)} ms" if ns >= NS_PER_MS else f"{ns / NS_PER_US:.1f} µs"


def whole_time(ns: float) -> str:
    """A time for a narrow place: whole µs from 10 on."""
    return f"{ns / NS_PER_US:,.0f} µs" if ns >= 10 * NS_PER_US else f"{ns / NS_PER_US:.1f} µs"


def whole_percent(share: float) -> str:
    return f"{share * 100:.0f} %" if share >= 0.005 else "< 1 %"


def rate(per_s: float) -> str:
    """A rate such as tokens/s with three significant digits or whole: `144,900`, `67,012`."""
    return f"{per_s:,.0f}" if per_s >= 100 else f"{per_s:.1f}"


def count(number: int, noun: str) -> str:
    """`1 kernel`, `5 kernels`, `2 copies`, `3 launches`."""
    return f"{number:,} {noun if number == 1 else _plural(noun)}"


def listed(words: list[str] | tuple[str, ...]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def workload_label(workload: Workload) -> str:
    """`B8 H16 S1024 D64, causal, bf16`; axes that repeat another (as many key heads as heads) are left out."""
    axes = workload.axes
    if workload.operation == catalog.DECODER_PREFILL.name:
        return f"{axes['model']}, prefill {axes['batch']}×{axes['seq']}, {workload.dtype}"
    shape = " ".join(f"{symbol}{axes[name]}" for name, symbol in _symbols(workload))
    rows = [f"{axes['rows']}×{axes['width']}"] if {"rows", "width"} <= axes.keys() else []
    numbers = [f"{name} {axes[name]}" for name in _unnamed_numbers(workload)]
    flags = [name for name, value in axes.items() if value is True]
    return ", ".join([*filter(None, [shape]), *rows, *numbers, *flags, str(workload.dtype)])


def _bound(value: float, places: int) -> str:
    """With so many decimals, and one significant digit where they would all be 0."""
    written = f"{value:,.{places}f}"
    return f"{value:.1g}" if value > 0 and not written.strip("0.") else written


def _places(value: float) -> int:
    """Decimals that leave a number three significant digits, and two below 1."""
    if value >= 99.95:
        return 0
    if value >= 9.995:
        return 1
    return 2 if value >= 0.0995 else 3


def _plural(noun: str) -> str:
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith("ch") else f"{noun}s"


def _symbols(workload: Workload) -> list[tuple[str, str]]:
    axes = workload.axes
    repeats = {"kv_heads": axes.get("heads"), "seq_kv": axes.get("seq_q")}
    return [
        (axis.name, axis.symbol)
        for axis in catalog.operation(workload.operation).axes
        if axis.symbol is not None and axis.name in axes and repeats.get(axis.name) != axes[axis.name]
    ]


def _unnamed_numbers(workload: Workload) -> list[str]:
    return [
        axis.name
        for axis in catalog.operation(workload.operation).axes
        if axis.symbol is None
        and axis.name not in ("rows", "width")
        and not isinstance(workload.axes.get(axis.name, False), bool)
    ]
