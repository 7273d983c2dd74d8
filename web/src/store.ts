// SPDX-License-Identifier: Apache-2.0

import type { FeedMessage, Health, Row, Touched } from "./types";

export const keyOf = (r: { kind: string; namespace?: string; name: string }) => `${r.kind}/${r.namespace ?? ""}/${r.name}`;

// severity orders healths from the one that a person looks at first.
const severity: Health[] = ["Failed", "Missing", "Paused", "Unknown", "Progressing", "Waiting", "Deleting", "Ready"];

export const rank = (h: Health) => severity.indexOf(h);

export const capabilityKind = "NexusAICapability";

// Change says which objects a message of the feed is about.
export interface Change {
  rows: Set<string>;
  touched: Touched[];
}

// Store holds the rows that the feed sends.
export class Store {
  readonly rows = new Map<string, Row>();
  synced = false;
  private readonly listeners = new Set<(c: Change) => void>();

  apply(m: FeedMessage): void {
    if (m.reset) {
      this.rows.clear();
      this.synced = false;
    }
    this.synced ||= !!m.synced;
    const changed = new Set(m.removed ?? []);
    for (const key of changed) {
      this.rows.delete(key);
    }
    for (const row of m.rows ?? []) {
      this.rows.set(keyOf(row), row);
      changed.add(keyOf(row));
    }
    const change = { rows: changed, touched: m.touched ?? [] };
    this.listeners.forEach((listen) => listen(change));
  }

  listen(listener: (c: Change) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export interface Filter {
  text: string;
  namespace: string;
  kind: string;
  // phase is a phase of capabilities, or a health of other objects.
  phase: string;
}

export const noFilter: Filter = { text: "", namespace: "", kind: capabilityKind, phase: "" };

// phaseOf is what the list shows as the phase of an object.
export const phaseOf = (r: Row) => r.phase || r.health;

// select returns the rows that a filter selects, the ones in trouble first.
export function select(rows: Iterable<Row>, f: Filter): Row[] {
  const words = f.text.toLowerCase().split(/\s+/).filter(Boolean);
  const out: Row[] = [];
  for (const r of rows) {
    if ((f.namespace && r.namespace !== f.namespace) || (f.kind && r.kind !== f.kind) || (f.phase && phaseOf(r) !== f.phase)) {
      continue;
    }
    if (words.length) {
      const text = `${r.kind}/${r.name} ${r.namespace ?? ""} ${phaseOf(r)} ${r.reason ?? ""} ${r.message ?? ""} ${r.capability ?? ""}`.toLowerCase();
      if (!words.every((w) => text.includes(w))) {
        continue;
      }
    }
    out.push(r);
  }
  return out.sort((a, b) => rank(a.health) - rank(b.health) || compare(a.namespace ?? "", b.namespace ?? "") || compare(a.kind, b.kind) || compare(a.name, b.name));
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

// choices are the values of a filter, with the number of rows of each.
export function choices(rows: Iterable<Row>, of: (r: Row) => string | undefined): [string, number][] {
  const count = new Map<string, number>();
  for (const r of rows) {
    const value = of(r);
    if (value) {
      count.set(value, (count.get(value) ?? 0) + 1);
    }
  }
  return [...count].sort((a, b) => compare(a[0], b[0]));
}

// page returns a page of a list, and how many there are. A page beyond the end is the last one.
export function page<T>(all: T[], number: number, size: number): { rows: T[]; number: number; pages: number } {
  const pages = Math.max(1, Math.ceil(all.length / size));
  const at = Math.min(Math.max(0, number), pages - 1);
  return { rows: all.slice(at * size, (at + 1) * size), number: at, pages };
}
