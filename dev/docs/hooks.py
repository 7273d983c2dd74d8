"""Adapts pages that are written to be read in the repository to the site that MkDocs builds."""

import os
import pathlib
import re

from mkdocs.structure.files import File

import diagrams

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")
DIAGRAM = re.compile(r"^```mermaid\n(.*?)^```$", re.M | re.S)
# A fence of commands with the mark for tests: the words after the language are not for the highlighter.
MARK = re.compile(r"^( *)```(sh|console) (?:run|skip).*$", re.M)


def on_config(config):
    """Replaces each folder in the navigation by its pages."""
    config.nav = expand(config.nav, pathlib.Path(config.docs_dir))
    return config


def expand(nav, docs):
    """Returns a navigation without folders."""
    out = []
    for entry in nav:
        if isinstance(entry, dict):
            out += [{title: expand(below, docs)} for title, below in entry.items()]
        elif entry.endswith("/"):
            pages = sorted((docs / entry).glob("*.md"), key=lambda p: (p.name != "README.md", p.name))
            out += [p.relative_to(docs).as_posix() for p in pages]
        else:
            out.append(entry)
    return out


def on_files(files, config):
    """Adds the files of the repository to which pages link, and the pictures of the diagrams."""
    docs = pathlib.Path(config.docs_dir)
    for page in [f for f in files if f.is_documentation_page()]:
        text = page.content_string
        for source in DIAGRAM.findall(text):
            _add(files, config, _picture(source), abs_src_path=str(diagrams.draw(source)))
        for _, target, _ in LINK.findall(text):
            path = _outside(docs, page, target)
            if path is not None:
                _add_from_repository(files, config, path)
    return files


def on_page_markdown(markdown, page, config, files):
    """Replaces diagrams by pictures, and links that lead out of docs/ by links to the added files."""
    docs = pathlib.Path(config.docs_dir)
    here = os.path.dirname(page.file.src_uri)

    def picture(match):
        return f"![Diagram]({os.path.relpath(_picture(match[1]), here or '.')})"

    def link(match):
        path = _outside(docs, page.file, match[2])
        if path is None:
            return match[0]
        return match[1] + os.path.relpath(_uri(path), here or ".") + match[3]

    return LINK.sub(link, MARK.sub(r"\1```\2", DIAGRAM.sub(picture, markdown)))


def _picture(source):
    return f"diagrams/{diagrams.draw(source).name}"


def _outside(docs, page, target):
    """Returns what a link leads to if that lies in the repository and outside docs/."""
    path = (docs / os.path.dirname(page.src_uri) / target).resolve()
    if path.is_relative_to(docs) or not path.is_relative_to(ROOT) or not path.exists():
        return None
    return path


def _uri(path):
    """Returns the place of a file of the repository in the site. A page lists the files of a folder."""
    uri = f"repository/{path.relative_to(ROOT).as_posix()}"
    return f"{uri}/files.md" if path.is_dir() else f"{uri}.txt"


def _add_from_repository(files, config, path):
    if not path.is_dir():
        _add(files, config, _uri(path), abs_src_path=str(path))
        return
    lines = [f"# {path.relative_to(ROOT).as_posix()}", ""]
    for each in sorted(p for p in path.rglob("*") if p.is_file()):
        _add(files, config, _uri(each), abs_src_path=str(each))
        lines.append(f"- [{each.relative_to(path).as_posix()}]({os.path.relpath(_uri(each), os.path.dirname(_uri(path)))})")
    _add(files, config, _uri(path), content="\n".join(lines) + "\n")


def _add(files, config, uri, **source):
    if files.get_file_from_path(uri) is None:
        files.append(File.generated(config, uri, **source))
