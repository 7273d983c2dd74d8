"""Draws the Mermaid diagrams of the documentation as pictures, without a browser and without a network."""

import hashlib
import os
import pathlib

import mermaidx

# Twice the size, so that a diagram is sharp in print.
SCALE = 2
# Text of messages is wrapped, so that diagrams with many participants stay readable on paper.
CONFIG = {"sequence": {"wrap": True, "width": 160, "mirrorActors": False}}


def draw(source: str) -> pathlib.Path:
    """Returns the PNG file of a diagram. Files are kept, named after the hash of their source and of the library."""
    key = hashlib.sha256(f"{mermaidx.__version__} {SCALE} {CONFIG}\n{source}".encode()).hexdigest()[:16]
    folder = pathlib.Path(os.environ["NEXUS_DOCS_DIAGRAMS"])
    path = folder / f"{key}.png"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{os.getpid()}.png"
        mermaidx.render(source, config=CONFIG).save(str(temporary), scale=SCALE, background="white")
        temporary.rename(path)
    return path
