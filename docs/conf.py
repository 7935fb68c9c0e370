"""The site: ``sphinx-build -W --keep-going -b html docs build/site``, or ``make docs``.

Pages are the Markdown files of the repository where they lie, those outside docs/ too, so that a link that works on
the site works in the repository. Links to other files of the repository download them.
"""

import gc
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.addnodes import pending_xref, toctree
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.writers.html5 import HTML5Translator

import tcpstream

project = "tcpstream"
author = "The tcpstream developers"
copyright = author
version = release = tcpstream.__version__

sys.path.insert(0, str(Path(__file__).parent / "interactive"))
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "page"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "docs/decisions/*.md", "docs/api/*.rst", "notebooks/*.md", "**/README.md"]
exclude_patterns = [".*", "build", "**/.ipynb_checkpoints"]

myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
nb_execution_mode = "cache"
nb_execution_cache_path = "build/notebooks"
nb_execution_timeout = 600
nb_execution_show_tb = True
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # nothing from elsewhere: sliders need a kernel anyway

default_role = "literal"
highlight_language = "text"
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]

html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"tcpstream {release}"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_extra_path = ["site/root"]
html_copy_source = False


NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)*(\(\))?")
PUBLIC = {
    f"{value.__module__}.{value.__qualname__}": f"{package}.{name}"
    for package in (
        "tcpstream.plots",
        "tcpstream.explore",
        "tcpstream.sim",
        "tcpstream.traces",
        "tcpstream.explicit",
        "tcpstream.tcp",
        "tcpstream",
    )
    for name, value in ((name, getattr(import_module(package), name)) for name in import_module(package).__all__)
    if hasattr(value, "__qualname__")
}
"""Names in the reference, by where they are defined."""


class NamesAreLinks(SphinxTransform):
    """Inline code that names something in the Python reference, as in the theory's map, leads there."""

    default_priority = 5

    def apply(self) -> None:
        """Wrap each literal in a reference; one without a target stays as it is."""
        for literal in list(self.document.findall(nodes.literal)):
            if isinstance(literal.parent, nodes.reference | pending_xref) or not NAME.fullmatch(literal.astext()):
                continue
            target = public(literal.astext().removesuffix("()"))
            link = pending_xref("", refdomain="py", reftype="obj", reftarget=target, refdoc=self.env.docname)
            literal.replace_self(link)
            link += literal


def public(name: str) -> str:
    """Return a name below tcpstream as the reference has it: tcpstream.live for answers.live.live."""
    whole = f"tcpstream.{name.removeprefix('tcpstream.')}"
    owners = (home for home in PUBLIC if f"{whole}.".startswith(f"{home}."))
    home = max(owners, key=len, default="")
    return PUBLIC.get(home, "") + whole.removeprefix(home)


def owner(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """Lead from a field that has no entry of its own, as Path.loss, to its class."""
    name, _, _ = node["reftarget"].rpartition(".")
    if node.get("refdomain") != "py" or not name:
        return None
    return env.domains.python_domain.resolve_xref(env, node["refdoc"], app.builder, "class", name, node, content)


def mathml(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as browsers read it by themselves: the site loads nothing from elsewhere."""
    apart = isinstance(node, nodes.math_block)
    formula = tex2mathml(node.astext(), as_block=apart)
    translator.body.append(f'<div class="formula">{formula}</div>' if apart else formula)
    raise nodes.SkipNode


@cache
def titles(env: BuildEnvironment) -> dict[str, nodes.Element]:
    """Return the contents of each page without its headings: what the tree of all pages keeps of them."""
    tocs = {name: toc.deepcopy() for name, toc in env.tocs.items()}
    for entry in (entry for toc in tocs.values() for entry in toc if len(entry) > 1):
        entry[1][:] = list(entry.findall(toctree))
    return tocs


def tree_of_titles(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object) -> None:
    """Let no page copy the headings of all others for its tree of pages."""
    whole, tree = app.env.tocs, context["toctree"]

    def short(**how: Any) -> str:
        app.env.tocs = titles(app.env)
        try:
            return str(tree(**how))
        finally:
            app.env.tocs = whole

    context["toctree"] = short


def setup(app: Sphinx) -> None:
    """Read the whole repository, not only docs/, and seek no garbage: nearly all objects stay to the end."""
    gc.disable()
    app.srcdir = type(app.srcdir)(app.confdir.parent)
    app.add_transform(NamesAreLinks)
    app.add_html_math_renderer("mathml", (mathml, None), (mathml, None))
    app.connect("missing-reference", owner)
    app.connect("html-page-context", tree_of_titles, priority=100)
