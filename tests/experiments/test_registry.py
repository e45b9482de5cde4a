"""All experiments, by their names."""

import subprocess
import sys

from calibrant import experiments


def test_every_paper_has_its_tables_and_figures():
    found = experiments.EXPERIMENTS
    assert {each.paper for each in found.values()} == {"ze02", "lz05", "ogg", "tto"}
    assert {"ze02-table1", "ze02-table5", "ze02-figure5", "lz05-table1", "ogg-table2", "tto-table11"} <= set(
        found
    )
    for name, experiment in found.items():
        assert experiment.name == name
        assert experiment.title
        assert experiment.conventions


def test_quick_is_part_of_what_is_run():
    for experiment in experiments.EXPERIMENTS.values():
        assert 0 < len(experiment.jobs("quick")) <= len(experiment.jobs("full"))


def test_the_room_is_light_until_the_experiments_are_asked_for():
    code = "import sys, calibrant.experiments; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"
