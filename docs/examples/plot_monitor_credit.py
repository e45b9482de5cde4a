"""
A credit book in a bad year
===========================

A bank forecasts for every loan the probability that it is not paid back. The forecasts were good when the
model was made. In April the economy turns, and defaults creep up: the odds grow by a little every week.
Whether a loan is paid back is known a month later. When does one know, and what is to be done?
"""

# %%
# A year of loans, and those of the year before, by which the model was tested. The forecasts do not see the
# economy.

import numpy as np
from matplotlib import pyplot as plt

from calibrant import CalibrationMonitor

random = np.random.default_rng(1)
n = 24_000
when = np.datetime64("2026-01-01", "s") + np.sort(random.integers(0, 365 * 86_400, n))
region = random.choice(["north", "south", "west"], n)
forecast, year_before = (1 / (1 + np.exp(-random.normal(-2.5, 1.0, size))) for size in (n, 4000))
april = np.datetime64("2026-04-01", "s")
drift = 0.8 * np.clip((when - april) / np.timedelta64(270, "D"), 0, None)
drift[region == "west"] *= 2
odds = forecast / (1 - forecast) * np.exp(drift)
default = random.random(n) < odds / (1 + odds)

# %%
# The monitor gets every day's loans without labels, and the labels thirty days later by the number of the
# loan. They take their place in time. A missed default costs ten times as much as a refused good loan.

cost = [[0, 10], [1, 0]]
monitor = CalibrationMonitor(reference=year_before, window="month", cost=cost)
day = when.astype("datetime64[D]")
found = None
for today in np.arange(np.datetime64("2026-01-01"), np.datetime64("2027-01-31")):
    new, old = np.flatnonzero(day == today), np.flatnonzero(day == today - 30)
    if len(new):
        monitor.update(forecast[new], time=when[new], group={"region": region[new]}, key=new)
    if len(old):
        monitor.add_labels(old, default[old])
    if found is None and monitor.alarms:
        found = today

# %%
# **The alarm.** What happened, and since when.

alarm = monitor.alarms[0]
print(f"alarm on {found}: {alarm.what}")
print(f"by loans up to {monitor.shown_time(alarm.time)}")
print(f"most probably since {monitor.shown_time(alarm.began_time)}, ", end="")
print(f"between {monitor.shown_time(alarm.began_low_time)} and {monitor.shown_time(alarm.began_high_time)}")
print(f"scores have drifted: {any(each.kind == 'drift' for each in monitor.alarms)}")

# %%
# **The months.** What the forecasts promised, and what came. The slope stays about 1: the model still tells
# good loans from bad ones, only their level is wrong.

for window in monitor.windows():
    print(
        f"{monitor.shown_time(window.began)[:7]}: forecast {window.mean_forecast[1]:.3f}, came "
        f"{window.frequency[1]}; cost promised {window.promised_cost:.3f}, was {window.cost}; "
        f"slope {window.slope}"
    )

# %%
# **Where.** The west is worst.

for group in monitor.groups():
    print(f"{group.name:<14} e-value {group.e_value:8.2g}  gap {group.gap}  {group.verdict}")

# %%
# **What to do.**

print(monitor.advice().text)

# %%
# The evidence: the bound is reached when a stream of right forecasts would reach it once in a million rows.
# After every alarm the process starts again, and as nobody mends the model, it alarms again.

curve = monitor.curve()
months = curve[:, 1].astype("int64").astype("datetime64[us]")
fig, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7, 5))
above.semilogy(months, np.maximum(curve[:, 2], 1e-3))
above.axhline(monitor.threshold, color="black", linestyle="--", label="alarm")
above.set_ylabel("evidence")
above.legend()
windows = monitor.windows()
middle = (
    np.array([(each.began + each.ended) / 2 for each in windows]).astype("int64").astype("datetime64[us]")
)
came = [each.frequency[1] for each in windows]
arms = np.array([[each - each.low, each.high - each] for each in came]).T
below.errorbar(middle, [float(each) for each in came], arms, fmt="o", label="came")
below.plot(middle, [float(each.mean_forecast[1]) for each in windows], label="forecast")
below.set_ylabel("defaults")
below.legend()
plt.show()
