"""All kinds of passes, so that any of them can be made again from its document."""

from calibrant.engines import (
    _bins_pass,
    _class_pass,
    _direction_pass,
    _fetch_pass,
    _forecast,
    _logistic_pass,
    _metric_pass,
    _range_pass,
    _rank_pass,
    _sample_pass,
    _together,
)

MODULES = (
    _bins_pass,
    _class_pass,
    _direction_pass,
    _fetch_pass,
    _forecast,
    _logistic_pass,
    _metric_pass,
    _range_pass,
    _rank_pass,
    _sample_pass,
    _together,
)
