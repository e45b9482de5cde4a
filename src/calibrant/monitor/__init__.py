"""After the model has shipped: do its probabilities stay calibrated?

==================  ====================================================================================
watching            `CalibrationMonitor`: rows in time order in; alarms, windows, groups, advice out
what it gives       `Alarm`, `Window`, `Group`, `Advice`, `Reliability` and its `ReliabilityCell`
many hypotheses     `e_bh`: discoveries from e-values, with a bounded share of false ones
==================  ====================================================================================
"""

from calibrant._core._lazy import at_home
from calibrant.monitor._advice import Advice
from calibrant.monitor._alarm import Alarm, mended as mended
from calibrant.monitor._groups import Group, e_bh
from calibrant.monitor._monitor import CalibrationMonitor
from calibrant.monitor._reliability import Reliability, ReliabilityCell
from calibrant.monitor._rows import shown_time as shown_time
from calibrant.monitor._windows import Window

__all__ = [
    "Advice",
    "Alarm",
    "CalibrationMonitor",
    "Group",
    "Reliability",
    "ReliabilityCell",
    "Window",
    "e_bh",
]

__dir__ = at_home(__name__)
