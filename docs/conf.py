"""Sphinx configuration."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from formulas import put_block, put_inline
from reproduction_page import draw_figures, write_page

project = "calibrant"
author = "the calibrant developers"
copyright = "2026, the calibrant developers"  # noqa: A001
version = release = installed("calibrant")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "examples"]
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "calibrant"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["calibrant.css"]
#: Pages without pages below them have no use for a column that lists these.
html_sidebars = {page: [] for page in ("index", "tutorial", "glossary", "errata", "reference")}
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "min_reported_time": 3600,
}


def skip_what_is_not_ours(app, what, name, member, skip, options):  # noqa: ARG001
    """Leave out what scikit-learn and Python add to our classes."""
    return skip or not str(getattr(member, "__module__", "calibrant")).startswith("calibrant")


def setup(app):
    """Hook into Sphinx."""
    app.add_html_math_renderer("mathml", (put_inline, None), (put_block, None))
    app.connect("autodoc-skip-member", skip_what_is_not_ours)
    app.connect("source-read", write_page)
    app.connect("build-finished", draw_figures)
