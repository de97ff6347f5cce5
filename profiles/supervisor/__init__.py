"""Starts, watches and ends the measuring child, and completes its runs by their traces. No torch here."""

from profiles.supervisor.child import MEASURE
from profiles.supervisor.completion import MeasuredRun
from profiles.supervisor.limits import Limits
from profiles.supervisor.trial import TrialError, TrialOutcome, measure_trial

__all__ = ["MEASURE", "Limits", "MeasuredRun", "TrialError", "TrialOutcome", "measure_trial"]
