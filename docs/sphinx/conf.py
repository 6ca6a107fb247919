"""The documentation site: ``make docs`` builds it, offline, into out/site.

The source folder is the root of the repository, so that links between pages are the same on the
site as in the repository. The front page is the README.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from sequoia.version import __version__  # noqa: E402

project = "sequoia"
author = "The sequoia founders"
copyright = f"2026, {author}"
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
    "command_reference",
    "contents",
    "cross_references",
    "mathml",
    "room",
]

root_doc = "README"
include_patterns = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "docs/**.md",
    "docs/reference/**.rst",
    "examples/*.py",
]
exclude_patterns = [".venv", ".git", "out", "src", "tests", "benchmarks", "docs/sphinx", "**/.*"]
nitpicky = False

# Pages are MyST, with formulas between dollars; headings can be linked to as in a repository.
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".py": "myst-nb"}
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

# Examples are scripts in percent format; the site shows them with what they print and draw.
nb_custom_formats = {".py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / "out" / "site-cache")
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True

# The reference comes from docstrings: types are in annotations, shapes in the text.
default_role = "py:obj"
autosummary_generate = False
autodoc_default_options = {
    "members": True,
    "ignore-module-all": True,
    "member-order": "bysource",
    "exclude-members": "cache_ok",  # what SQLAlchemy says of it links to its own pages
}
autodoc_mock_imports = ["ray"]  # large, and not needed to read about it
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"sequoia {__version__}"
html_static_path = ["static"]
html_css_files = ["sequoia.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
# Words and formulas are all that a page needs: it loads nothing from elsewhere.
html_theme_options = {"navigation_with_keys": True}
