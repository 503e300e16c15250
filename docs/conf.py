"""How `make docs` builds the site: Sphinx over the pages as they lie in the repository, so that links hold in both."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "site"), str(HERE.parent / "src")]

from likely.version import __version__  # noqa: E402

project = "likely"
author = "the likely authors"
copyright = author
release = version = __version__

# The source folder is the root of the repository. Only these are pages; nothing else is looked into.
include_patterns = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/**", "benchmarks/*.md"]
exclude_patterns = [".*", "src", "tests", "build", "dist", "site", "docs/site", "docs/pictures"]
root_doc = "docs/index"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "notebooks", "docstrings"]
suppress_warnings = ["toc.no_title"]  # a table that a benchmark wrote
source_suffix = {".md": "markdown", ".ipynb": "notebook"}
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

INHERITED = "BaseEstimator, ClassifierMixin, TransformerMixin, Exception"
"""Classes that are described elsewhere; what ours take from others is shown."""

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "inherited-members": INHERITED}
add_module_names = False
maximum_signature_line_length = 88

html_theme = "furo"
html_title = "likely"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_extra_path = ["site/front"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True, "sidebar_hide_name": False}
copybutton_prompt_text = ">>> |\\.\\.\\. |\\$ "
copybutton_prompt_is_regexp = True
