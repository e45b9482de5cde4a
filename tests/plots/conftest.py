"""Figures are drawn without a screen, and closed after every test."""

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return plt.figure().add_subplot()
