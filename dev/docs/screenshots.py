"""Draws the pictures of the documentation from a recording of the demo that dev/promtool/record made."""

import io
import json
import pathlib
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

ROOT = pathlib.Path(__file__).resolve().parents[2]
DASHBOARDS = ROOT / "charts/nexus-operator/files/dashboards"
# No picture may be larger.
MOST_BYTES = 300 * 1024
# Grafana divides the width of a dashboard into this many columns.
COLUMNS = 24
WIDTH, ROW, HEADER = 13.0, 0.30, 0.75  # inches
DPI = 100
# The most entries of a legend, and rows of a table.
MOST_SERIES, MOST_ROWS = 8, 7
# The most characters of a name in a legend.
MOST_NAME = 30
GRAY, FRAME = "#666666", "#d0d0d0"

UNITS = {
    "short": lambda v: f"{v:g}" if abs(v) < 1000 else f"{v:,.0f}",
    "s": lambda v: f"{v:.3g} s" if abs(v) < 60 else f"{v / 60:.3g} min",
    "ops": lambda v: f"{v:.3g}/s",
    "reqps": lambda v: f"{v:.3g}/s",
    "percentunit": lambda v: f"{v * 100:.3g} %",
    "bytes": lambda v: f"{v / 2**20:.3g} MiB",
}


def save(image, path):
    """Writes a picture with few colors, and fails if it is too large."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image.convert("RGB").quantize(96, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    if size > MOST_BYTES:
        sys.exit(f"{path}: {size} bytes are more than {MOST_BYTES}")
    print(f"{path}: {image.width}x{image.height}, {size // 1024} KiB")


class Dashboard:
    """One dashboard of Grafana and the results of its queries."""

    def __init__(self, file, recording):
        self.board = json.loads((DASHBOARDS / file).read_text())
        self.file, self.recording = file, recording
        self.rows = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in self.board["panels"])

    def draw(self, path):
        height = self.rows * ROW + HEADER
        self.figure = plt.figure(figsize=(WIDTH, height), dpi=DPI, facecolor="white")
        self.figure.text(0.012, 1 - 0.30 / height, self.board["title"], fontsize=15, weight="bold", va="center")
        note = "The results of this dashboard's queries over a run of the demo, drawn by make screenshots; this is not a picture of Grafana. Dotted line: the trouble begins."
        self.figure.text(0.012, 1 - 0.55 / height, note, fontsize=8.5, color=GRAY, va="center")
        for panel in self.board["panels"]:
            self.panel(panel, height)
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png")
        plt.close(self.figure)
        save(Image.open(buffer), path)

    def panel(self, panel, height):
        grid = panel["gridPos"]
        left, width = grid["x"] / COLUMNS, grid["w"] / COLUMNS
        top = 1 - (HEADER + grid["y"] * ROW) / height
        if panel["type"] == "row":
            self.figure.text(left + 0.012, top - 0.5 * ROW / height, panel["title"], fontsize=11, weight="bold", color="#1f3f94", va="center")
            return
        tall = grid["h"] * ROW / height
        pad, below = 0.004, 0.05 / height
        frame = plt.Rectangle((left + pad, top - tall + below), width - 2 * pad, tall - 2 * below, transform=self.figure.transFigure, fill=False, edgecolor=FRAME, linewidth=0.8)
        self.figure.add_artist(frame)
        self.figure.text(left + 0.010, top - 0.19 / height, panel["title"], fontsize=9, weight="bold", va="center")
        legend = 0.42 if panel["type"] == "timeseries" and grid["w"] > 6 else 0
        axes = self.figure.add_axes((left + 0.048, top - tall + 0.32 / height, (width - 0.066) * (1 - legend), tall - 0.70 / height))
        {"timeseries": self.timeseries, "stat": self.stat, "table": self.table}[panel["type"]](axes, panel)

    def series(self, panel):
        """Returns the series of a panel: their names and points."""
        out = []
        for target in panel["targets"]:
            for s in self.recording["results"][f"{self.file}/{panel['id']}/{target['refId']}"] or []:
                name = re.sub(r"\{\{(\w+)\}\}", lambda m, s=s: s["labels"].get(m[1], ""), target.get("legendFormat", ""))
                out.append((name, s["labels"], s["points"]))
        return out

    def with_gaps(self, points):
        """Returns times and values, with a gap where the query had no result."""
        times, values = [], []
        for t, v in points:
            if times and t - times[-1] > 1.5 * self.recording["step"]:
                times.append(t)
                values.append(float("nan"))
            times.append(t)
            values.append(v)
        return times, values

    def timeseries(self, axes, panel):
        unit = UNITS[panel["fieldConfig"]["defaults"].get("unit", "short")]
        series = sorted(self.series(panel), key=lambda s: -max(v for _, v in s[2]))
        start, end, trouble = (self.recording[k] for k in ("from", "to", "trouble"))
        for i, (name, _, points) in enumerate(series):
            short = name if len(name) <= MOST_NAME else name[: MOST_NAME - 1] + "…"
            label = f"{short}  {unit(points[-1][1])}" if i < MOST_SERIES else None
            # A single point has no line.
            marker = "." if len(points) == 1 else None
            times, values = self.with_gaps(points)
            axes.plot([(t - start) / 60 for t in times], values, label=label, linewidth=1.2, marker=marker)
        axes.set_xlim(0, (end - start) / 60)
        axes.set_ylim(0, 1.1 * max([v for _, _, points in series for _, v in points], default=0) or 1)
        axes.axvline((trouble - start) / 60, color=GRAY, linewidth=0.8, linestyle=":")
        axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(4))
        axes.yaxis.set_major_formatter(lambda v, _: unit(v))
        axes.xaxis.set_major_formatter(lambda v, _: f"{v:g} min")
        axes.tick_params(labelsize=7, colors=GRAY, length=2)
        axes.grid(color="#eeeeee", linewidth=0.6)
        for side in axes.spines.values():
            side.set_visible(False)
        if not series:
            axes.text(0.5, 0.5, "No data", transform=axes.transAxes, ha="center", va="center", color=GRAY)
            return
        if len(series) > MOST_SERIES:
            axes.plot([], [], linestyle="none", label=f"and {len(series) - MOST_SERIES} more")
        if panel["gridPos"]["w"] > 6:
            axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.04), fontsize=7, frameon=False, borderaxespad=0)

    def stat(self, axes, panel):
        axes.axis("off")
        series = self.series(panel)
        text = UNITS[panel["fieldConfig"]["defaults"].get("unit", "short")](series[0][2][-1][1]) if series else "No data"
        axes.text(0.4, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=26 if series else 10)

    def table(self, axes, panel):
        axes.axis("off")
        series = self.series(panel)
        if not series:
            axes.text(0.5, 0.5, "No data", transform=axes.transAxes, ha="center", va="center", color=GRAY)
            return
        columns = sorted({label for _, labels, _ in series for label in labels})
        rows = [[labels.get(c, "") for c in columns] + [f"{points[-1][1]:g}"] for _, labels, points in series[:MOST_ROWS]]
        table = axes.table(cellText=rows, colLabels=columns + ["value"], bbox=(-0.09, 1 - 0.16 * (len(rows) + 1), 0.8, 0.16 * (len(rows) + 1)), cellLoc="left", edges="horizontal")
        table.auto_set_font_size(False)
        table.set_fontsize(8)
        table.auto_set_column_width(range(len(columns) + 1))
        for cell in table.get_celld().values():
            cell.set_edgecolor(FRAME)


def terminal(text, path):
    """Draws what a terminal shows. Lines that begin with a dollar sign are commands."""
    folder = pathlib.Path(font_manager.findfont("DejaVu Sans Mono")).parent
    plain, bold = (ImageFont.truetype(str(folder / f"DejaVuSansMono{kind}.ttf"), 14) for kind in ("", "-Bold"))
    lines = text.rstrip("\n").split("\n")
    across, down, margin = plain.getlength("m"), 19, 16
    size = (int(across * max(map(len, lines))) + 2 * margin, down * len(lines) + 2 * margin)
    image = Image.new("RGB", size, "#1e1e2e")
    draw = ImageDraw.Draw(image)
    for i, line in enumerate(lines):
        command = line.startswith("$ ")
        draw.text((margin, margin + i * down), line, font=bold if command else plain, fill="#a6e3a1" if command else "#e6e6f0")
    save(image, path)


def demo(text):
    """Returns the part of the demo's output that fits a picture: the beginning, and the sections of the capability with intents."""
    progress, rest = text.split("\nAWS, as its API lists it", 1)
    lines = progress.strip("\n").split("\n")
    sections = rest.split("\nEverything goes on running", 1)[0]
    guarded = re.search(r"\nKubernetes, namespace guarded-dev\n.*", sections, re.S)[0]
    # The namespaces are listed in alphabetical order: others follow, and the intents come last.
    kubernetes = re.split(r"\n(?=Kubernetes, |Security intents )", guarded)[1]
    intents = re.search(r"\nSecurity intents .*?(?=\nKinds that are installed)", guarded, re.S)[0]
    shown = ["$ make demo", *lines[:4], "         …", *lines[-3:], "         …", "", *kubernetes.rstrip("\n").split("\n"), "         …", *intents.rstrip("\n").split("\n")]
    return "\n".join(shown)


def main(recorded, out):
    recorded, out = pathlib.Path(recorded), pathlib.Path(out)
    recording = json.loads((recorded / "dashboards.json").read_text())
    for file in sorted(p.name for p in DASHBOARDS.glob("*.json")):
        Dashboard(file, recording).draw(out / f"dashboard-{pathlib.Path(file).stem}.png")
    terminal(demo((recorded / "demo.txt").read_text()), out / "demo.png")
    terminal((recorded / "kubectl.txt").read_text(), out / "quick-start.png")


if __name__ == "__main__":
    main(*sys.argv[1:])
