// SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Health, Level } from "./types";

// The shapes tell the states apart without color.
const shapes: Record<string, string> = {
  Ready: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zM7 11L4 8l1-1 2 2 4-4 1 1z",
  Failed: "M5 1h6l4 4v6l-4 4H5l-4-4V5zM5 6l2 2-2 2 1 1 2-2 2 2 1-1-2-2 2-2-1-1-2 2-2-2z",
  Missing: "M1 1h4v2H3v2H1zM11 1h4v4h-2V3h-2zM1 11h2v2h2v2H1zM13 11h2v4h-4v-2h2zM7 4h2v5H7zM7 10h2v2H7z",
  Progressing: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zM8 3v10A5 5 0 0 1 8 3z",
  Waiting: "M3 1h10v3L9 8l4 4v3H3v-3l4-4-4-4z",
  Paused: "M3 2h4v12H3zM9 2h4v12H9z",
  Deleting: "M5 1h6v2h4v2H1V3h4zM2 6h12l-1 9H3z",
  Unknown: "M8 1l7 7-7 7-7-7zM7 4v2h1v2H7v1h2V4zM7 10v2h2v-2z",
};

const levelShapes: Record<Level, string> = { Enforced: shapes.Ready!, Audited: shapes.Progressing!, Partial: shapes.Waiting!, None: shapes.Failed! };

function Shape({ path, tone }: { path: string; tone: string }) {
  return (
    <svg class={`shape ${tone}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path fill-rule="evenodd" d={path} />
    </svg>
  );
}

export const toneOf = (h: Health) =>
  h === "Ready" ? "good" : h === "Failed" || h === "Missing" ? "bad" : h === "Progressing" || h === "Waiting" ? "busy" : "still";

// HealthMark is a state as shape, color and word.
export function HealthMark({ health, word }: { health: Health; word?: string }) {
  return (
    <span class="mark">
      <Shape path={shapes[health] ?? shapes.Unknown!} tone={toneOf(health)} /> {word ?? health}
    </span>
  );
}

export function HealthShape({ health }: { health: Health }) {
  return <Shape path={shapes[health] ?? shapes.Unknown!} tone={toneOf(health)} />;
}

// LevelMark is a level of coverage. An engine that is not there, or has no means for an intent, is no trouble.
export function LevelMark({ level, reason }: { level: Level; reason: string | undefined }) {
  const idle = reason === "EngineMissing" || reason === "NotCovered";
  const tone = level === "Enforced" ? "good" : level === "None" ? (idle ? "still" : "bad") : "busy";
  return (
    <span class="mark">
      <Shape path={levelShapes[level] ?? shapes.Unknown!} tone={tone} /> {level}
    </span>
  );
}

// Problem shows an error of the API.
export function Problem({ error }: { error: string | undefined }) {
  return error ? (
    <p class="problem" role="alert">
      {error}
    </p>
  ) : null;
}

// Words is a sentence with code between backticks.
export function Words({ text }: { text: string }) {
  return <>{text.split(/(`[^`]+`)/).map((t) => (t.startsWith("`") ? <code>{t.slice(1, -1)}</code> : t))}</>;
}

export function Note({ children }: { children: ComponentChildren }) {
  return <p class="note">{children}</p>;
}

// useTitle names the document and moves the focus to the heading of a view, so that a screen reader reads it.
export function useTitle(title: string) {
  useEffect(() => {
    document.title = `${title} · Nexus Operator`;
  }, [title]);
}

// useNow is the time, which advances every ten seconds.
export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

// age is the time since a moment as kubectl writes it.
export function age(since: string | null | undefined, now: number): string {
  const from = since ? Date.parse(since) : NaN;
  if (Number.isNaN(from)) {
    return "unknown";
  }
  const s = Math.max(0, Math.floor((now - from) / 1000));
  if (s < 120) return `${s}s`;
  if (s < 7200) return `${Math.floor(s / 60)}m`;
  if (s < 172_800) return `${Math.floor(s / 3600)}h`;
  return `${Math.floor(s / 86_400)}d`;
}

export function Age({ since, now }: { since: string | null | undefined; now: number }) {
  return since ? (
    <time dateTime={since} title={new Date(since).toLocaleString()}>
      {age(since, now)}
    </time>
  ) : (
    <>unknown</>
  );
}

export function Pager({ number, pages, go }: { number: number; pages: number; go: (n: number) => void }) {
  if (pages < 2) {
    return null;
  }
  return (
    <nav class="pager" aria-label="Pages">
      <button type="button" disabled={number === 0} onClick={() => go(number - 1)}>
        Previous
      </button>
      <span>
        Page {number + 1} of {pages}
      </span>
      <button type="button" disabled={number >= pages - 1} onClick={() => go(number + 1)}>
        Next
      </button>
    </nav>
  );
}
