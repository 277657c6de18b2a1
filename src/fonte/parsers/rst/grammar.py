"""Docutils set up to read hostile text: no file, no raw markup, no message on the way.

Directives and roles that it does not know (Sphinx has many) keep their text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Directive, Parser, directives, roles
from docutils.parsers.rst.languages import get_language
from docutils.utils import new_document

if TYPE_CHECKING:
    from docutils.parsers.rst.states import Inliner

_DIRECTIVE = re.compile(r"^[ \t]*\.\. (?:\|[^|\n]+\| )?([A-Za-z][\w:+.-]*)::", re.MULTILINE)
_ROLE = re.compile(r":([A-Za-z][\w:+.-]*):`|`:([A-Za-z][\w:+.-]*):")
_TARGET = re.compile(r"(.+?)\s*<([^<>]*)>$", re.DOTALL)
_MARKUP = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>|<[^<>]*>", re.DOTALL | re.IGNORECASE)
_CODE = frozenset(
    "code code-block sourcecode prompt ipython doctest testcode testoutput testsetup graphviz digraph mermaid plantuml "
    "productionlist parsed-literal command-output highlight-block tikz".split()
)
_SILENT = frozenset(
    "toctree index contents highlight currentmodule module tabularcolumns include literalinclude default-domain "
    "meta sectionauthor codeauthor autosummary automodule date".split()
)
"""Those that say nothing of their own; a ``date`` would be that of the parse, which no document says."""
_OURS = _SILENT | _CODE | {"raw"}
"""Read as ours even where docutils knows them: its own take fewer options, or files."""
_SILENT_ON_FILES = frozenset({"include", "literalinclude"})
_LABELS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
    "seealso": "See also",
    "todo": "To do",
}


class _AnyOption(dict[str, Callable[[str], Any]]):
    """Options of any name, kept as they are."""

    def __missing__(self, name: str) -> Callable[[str], Any]:
        return directives.unchanged

    def __bool__(self) -> bool:
        return True


class _Unknown(Directive):
    """A directive that docutils does not know: code as code, the rest as its argument and its content."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOption()

    def run(self) -> list[nodes.Node]:
        name = self.name.lower().rsplit(":", 1)[-1]
        if name in _SILENT:
            return []
        text = "\n".join(self.content)
        if name == "raw":
            plain = " ".join(html.unescape(_MARKUP.sub(" ", text)).split())
            return [nodes.paragraph(plain, plain)] if plain else []
        if name in _CODE:
            caption = str(self.options.get("caption", ""))
            before = [nodes.caption(caption, caption)] if caption else []
            return [*before, nodes.literal_block(text, text)] if text.strip() else []
        box = nodes.container()
        said = " ".join(self.arguments[0].split()) if self.arguments else ""
        said = " ".join(filter(None, [_LABELS.get(name, ""), said]))
        if said:
            box += nodes.paragraph(said, said)
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]


def _unknown_role(
    role: str,
    rawtext: str,
    text: str,
    lineno: int,
    inliner: Inliner,
    options: Mapping[str, Any] | None = None,
    content: Sequence[str] | None = None,
) -> tuple[Sequence[nodes.Node], Sequence[nodes.Node]]:
    """The text of a role that docutils does not know, without the target behind it."""
    del role, lineno, inliner, options, content
    plain = text.replace("\0", "")
    titled = _TARGET.match(plain)
    shown = titled[1] if titled is not None else plain.lstrip("~!")
    return [nodes.inline(rawtext, shown)], []


def read_tree(text: str, name: str) -> nodes.document:
    """The tree of a file."""
    settings = get_default_settings(Parser)
    for key, value in (
        ("file_insertion_enabled", False),
        ("raw_enabled", False),
        ("report_level", 5),
        ("halt_level", 5),
        ("syntax_highlight", "none"),
        ("smart_quotes", False),
        ("line_length_limit", 10_000_000),
        ("warning_stream", ""),
        ("_disable_config", True),
    ):
        setattr(settings, key, value)
    document = new_document(name, settings)
    _learn(text, document)
    Parser().parse(text, document)
    return document


def files_named(text: str) -> list[str]:
    """Files whose text belongs here and is not read, with their lines."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        directive = re.match(r"[ \t]*\.\. ([\w-]+)::[ \t]*(.*)$", line)
        option = re.match(r"[ \t]+:(?:file|url):[ \t]*(\S.*)$", line)
        if directive is not None and directive[1] in _SILENT_ON_FILES:
            found.append(f"{directive[2].strip()} (line {number})")
        elif option is not None:
            found.append(f"{option[1].strip()} (line {number})")
    return found


def _learn(text: str, document: nodes.document) -> None:
    """Tell docutils of the directives and roles of this text that it does not know."""
    english = get_language("en")
    for name in {*_DIRECTIVE.findall(text), "raw", "include"}:
        lowered = name.lower()
        known, _ = directives.directive(lowered, cast("Any", english), document)
        if known is None or lowered in _OURS:
            directives.register_directive(lowered, _Unknown)
    for names in set(_ROLE.findall(text)):
        role = (names[0] or names[1]).lower()
        found, _ = roles.role(role, cast("Any", english), 0, document.reporter)
        if found is None or role == "raw":
            roles.register_canonical_role(role, cast("Any", _unknown_role))
