"""Names in docstrings become links, and arrays keep the names that we give them."""

import re
from typing import Any, get_args

from docutils import nodes
from sphinx.util.typing import stringify_annotation

import sequoia.validation as validation

# What a signature shows of each kind of array, and what we call it.
_ALIASES = {
    stringify_annotation(value, mode): name
    for name, value in vars(validation).items()
    if name.endswith("Array") and get_args(value)
    for mode in ("smart", "fully-qualified", "fully-qualified-except-typing")
}


def _short_names(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: Any, returns: Any
) -> Any:
    """Write ``FloatArray`` where the signature would spell it out."""
    return tuple(text and _with_aliases(text) for text in (signature, returns))


def _with_aliases(text: str) -> str:
    for long, short in _ALIASES.items():
        text = text.replace(long, short)
    return text


def _find(app: Any, env: Any, node: Any, content: nodes.Element) -> nodes.reference | None:
    """Link a bare name, such as `Arms`, to the only thing of that name."""
    if node.get("refdomain") != "py":
        return None
    name = re.sub(r"^.*\.", "", node["reftarget"])
    objects = env.get_domain("py").objects
    found = [
        full
        for full, entry in objects.items()
        if full.rpartition(".")[2] == name and entry.objtype != "module"
    ]
    if len(found) != 1:
        return None
    entry = objects[found[0]]
    target = app.builder.get_relative_uri(node["refdoc"], entry.docname)
    link = nodes.reference("", "", content, internal=True, refuri=f"{target}#{entry.node_id}")
    link["reftitle"] = found[0]
    return link


def setup(app: Any) -> dict[str, bool]:
    """Register this extension."""
    app.connect("autodoc-process-signature", _short_names)
    app.connect("missing-reference", _find)
    return {"parallel_read_safe": True}
