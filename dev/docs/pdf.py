"""Writes all pages of the documentation into one PDF: pandoc reads the pages, and Typst sets them."""

import json
import os
import pathlib
import re
import struct
import sys

import pypandoc
import typst
from mkdocs.config import load_config

import diagrams
import hooks

# The widest token that a cell of a table keeps in one piece.
LONG = 18
# What walk returns for a part that the PDF does not have, such as a comment.
DROP = object()
BREAK = {"t": "RawBlock", "c": ["typst", "#pagebreak(weak: true)"]}


def pages(nav):
    """Returns the chapters of a navigation: (title, page) in order; a page outside every chapter has no title."""
    for entry in nav:
        if isinstance(entry, dict):
            for title, below in entry.items():
                for i, page in enumerate(below):
                    yield (title if i == 0 else None), page
        else:
            yield None, entry


def key(page):
    """Returns the label of a page."""
    return "page-" + re.sub(r"[^a-z0-9]+", "-", page.lower().removesuffix(".md"))


class Page:
    """One page on its way into the PDF."""

    def __init__(self, docs, name):
        self.docs, self.name, self.titled = docs, name, False

    def blocks(self):
        text = (self.docs / self.name).read_text()
        return self.walk(json.loads(pypandoc.convert_text(text, "json", "gfm"))["blocks"])

    def walk(self, node):
        """Returns a copy of a part of the document with its labels, links, diagrams and tables adapted."""
        if isinstance(node, dict):
            handle = getattr(self, "on_" + str(node.get("t")), None)
            below = {k: self.walk(v) for k, v in node.items()}
            return handle(below) if handle else below
        if isinstance(node, list):
            return [x for x in map(self.walk, node) if x is not DROP]
        return node

    def on_Header(self, node):
        level, attributes, _ = node["c"]
        first, self.titled = not self.titled, True
        attributes[0] = key(self.name) if first else f"{key(self.name)}--{attributes[0]}"
        node["c"][0] = level + 1
        return node

    def on_RawBlock(self, node):
        return DROP

    def on_RawInline(self, node):
        return DROP

    def on_CodeBlock(self, node):
        attributes, text = node["c"]
        if attributes[1][:1] == ["mermaid"]:
            path = diagrams.draw(text + "\n")
            image = {"t": "Image", "c": [["", [], [["width", width(path)]]], [], [str(path), ""]]}
            return {"t": "Para", "c": [image]}
        return node

    def on_Image(self, node):
        path = self.docs / os.path.dirname(self.name) / node["c"][2][0]
        node["c"][0][2] = [["width", width(path, scale=1, tallest=9)]]
        node["c"][2][0] = str(path.resolve())
        return node

    def on_Link(self, node):
        _, text, (target, _) = node["c"]
        if re.match(r"[a-z]+:", target):
            return node
        path, _, anchor = target.partition("#")
        full = (self.docs / os.path.dirname(self.name) / path).resolve() if path else self.docs / self.name
        if full.is_relative_to(self.docs) and full.suffix == ".md":
            label = key(full.relative_to(self.docs).as_posix()) + (f"--{anchor}" if anchor else "")
            node["c"][2][0] = f"#{label}"
            return node
        place = full.relative_to(hooks.ROOT).as_posix()
        return {"t": "Span", "c": [["", [], []], text + [{"t": "Str", "c": f" ({place})"}]]}

    def on_Table(self, node):
        """Gives each column a share of the width that fits its text."""
        columns, head, bodies = node["c"][2], node["c"][3], node["c"][4]
        rows = head[1] + [row for body in bodies for row in body[3]]
        weights = []
        for i in range(len(columns)):
            lengths = [len(plain(row[1][i])) for row in rows]
            weights.append(max(min(max(lengths), 60), sum(lengths) / len(lengths), 6) ** 0.75)
        for column, weight in zip(columns, weights):
            column[0], column[1] = {"t": "AlignLeft"}, {"t": "ColWidth", "c": weight / sum(weights)}
        for row in rows:
            row[1] = [breakable(cell) for cell in row[1]]
        return node


def width(path, scale=diagrams.SCALE, tallest=6.5):
    """Returns the width of a picture in print: its text as large as that of the page, and no side longer than the page allows."""
    across, down = struct.unpack(">II", path.read_bytes()[16:24])
    return f"{across * min(1 / scale / 135, 6.6 / across, tallest / down):.2f}in"


def plain(node):
    """Returns the text of a part of a document."""
    if isinstance(node, dict):
        if node.get("t") in ("Str", "Code"):
            return node["c"] if node["t"] == "Str" else node["c"][1]
        return " " if node.get("t") in ("Space", "SoftBreak") else plain(node.get("c", []))
    return "".join(map(plain, node)) if isinstance(node, list) else ""


def breakable(node):
    """Lets long words of code break across lines: at punctuation, and before capital letters."""
    if isinstance(node, list):
        return [breakable(x) for x in node]
    if not isinstance(node, dict):
        return node
    if node.get("t") == "Code" and any(len(word) > LONG for word in node["c"][1].split()):
        text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[/._=:,|()-])(?=\w)", "\u200b", node["c"][1])
        return {"t": "Code", "c": [node["c"][0], text]}
    return {k: breakable(v) for k, v in node.items()}


def document(config):
    """Returns all pages as one document of pandoc."""
    docs = pathlib.Path(config.docs_dir)
    blocks = []
    for title, name in pages(hooks.expand(config.nav, docs)):
        blocks.append(BREAK)
        if title:
            header = [1, ["chapter-" + re.sub(r"\W", "-", title.lower()), [], []], [{"t": "Str", "c": title}]]
            blocks.append({"t": "Header", "c": header})
        blocks += Page(docs, name).blocks()
    return {"pandoc-api-version": api_version(), "meta": {}, "blocks": blocks}


def api_version():
    return json.loads(pypandoc.convert_text("", "json", "gfm"))["pandoc-api-version"]


def main(out):
    here = pathlib.Path(__file__).parent
    config = load_config(str(here / "mkdocs.yml"))
    body = pypandoc.convert_text(json.dumps(document(config)), "typst", "json", extra_args=["--wrap=none"])
    source = pathlib.Path(out).with_suffix(".typ")
    source.write_text((here / "book.typ").read_text() + body)
    typst.compile(str(source.resolve()), output=out, root="/")
    source.unlink()


if __name__ == "__main__":
    main(sys.argv[1])
