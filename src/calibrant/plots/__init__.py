"""Figures of what `metrics` and the calibrators return. Needs matplotlib (extra `plots`)."""

from calibrant.plots._reliability import reliability_diagram

__all__ = ["reliability_diagram"]
