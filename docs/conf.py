"""Sphinx: the site is what is in this folder and in the docstrings."""

project = "substrax"
author = "The substrax developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.doctest", "sphinx.ext.napoleon"]
html_theme = "furo"
exclude_patterns = ["_build", "examples"]
napoleon_custom_sections = ["Source"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
myst_heading_anchors = 3
# Docstrings are Markdown-like: a single backtick is code.
default_role = "code"
# Every example in a docstring is run by the session `docs`.
doctest_global_setup = "from substrax.runtime import *; from substrax.runtime.managed_env import *"
