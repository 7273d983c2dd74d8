// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { EventParser } from "../src/events";
import { addressOf, parse } from "../src/route";
import { choices, noFilter, page, phaseOf, select, Store } from "../src/store";
import type { Row } from "../src/types";
import { declarationOf } from "../src/views/plan";

const row = (kind: string, name: string, more: Partial<Row> = {}): Row => ({
  apiVersion: "v1",
  kind,
  namespace: "team-a",
  name,
  ready: true,
  health: "Ready",
  created: null,
  version: "1",
  ...more,
});

test("events are read from a stream that is cut anywhere", () => {
  const text = 'data: {"a":1}\n\n: still here\n\ndata: {"b":\ndata: 2}\n\n';
  for (let cut = 0; cut <= text.length; cut++) {
    const parser = new EventParser();
    assert.deepEqual([...parser.feed(text.slice(0, cut)), ...parser.feed(text.slice(cut))], ['{"a":1}', '{"b":\n2}']);
  }
});

test("the store keeps the last row, and drops what is gone", () => {
  const store = new Store();
  const heard: string[] = [];
  store.listen((c) => heard.push([...c.rows].join()));
  store.apply({ reset: true, rows: [row("S3Bucket", "a"), row("S3Bucket", "b")] });
  assert.equal(store.synced, false);
  store.apply({ synced: true, rows: [row("S3Bucket", "a", { health: "Failed" })], removed: ["S3Bucket/team-a/b"] });
  assert.deepEqual([...store.rows.values()].map((r) => `${r.name} ${r.health}`), ["a Failed"]);
  assert.deepEqual(heard, ["S3Bucket/team-a/a,S3Bucket/team-a/b", "S3Bucket/team-a/b,S3Bucket/team-a/a"]);
  assert.equal(store.synced, true);
  store.apply({ reset: true });
  assert.equal(store.rows.size, 0);
});

test("a filter selects by words, namespace, kind and phase, and puts trouble first", () => {
  const rows = [
    row("NexusAICapability", "shop", { phase: "Running" }),
    row("NexusAICapability", "chat", { phase: "Failed", health: "Failed", message: "S3Bucket/chat-logs: taken", namespace: "team-b" }),
    row("S3Bucket", "logs", { capability: "shop" }),
  ];
  const names = (f: object) => select(rows, { ...noFilter, ...f }).map((r) => r.name);
  assert.deepEqual(names({}), ["chat", "shop"]);
  assert.deepEqual(names({ kind: "" }), ["chat", "logs", "shop"].sort((a, b) => (a === "chat" ? -1 : b === "chat" ? 1 : a < b ? 1 : -1)));
  assert.deepEqual(names({ text: "TAKEN logs" }), ["chat"]);
  assert.deepEqual(names({ kind: "", text: "shop" }), ["shop", "logs"]);
  assert.deepEqual(names({ namespace: "team-a" }), ["shop"]);
  assert.deepEqual(names({ phase: "Running" }), ["shop"]);
  assert.deepEqual(names({ kind: "S3Bucket", phase: "Ready" }), ["logs"]);
  assert.deepEqual(choices(rows, phaseOf), [["Failed", 1], ["Ready", 1], ["Running", 1]]);
});

test("ten thousand rows are filtered and cut into pages", () => {
  const rows = Array.from({ length: 10_000 }, (_, i) => row("S3Bucket", `b${i}`));
  const start = performance.now();
  const found = select(rows, { ...noFilter, kind: "", text: "b99" });
  assert.ok(performance.now() - start < 500);
  assert.equal(found.length, 111);
  assert.deepEqual({ ...page(found, 99, 50), rows: page(found, 99, 50).rows.length }, { rows: 11, number: 2, pages: 3 });
  assert.deepEqual(page([], 3, 50), { rows: [], number: 0, pages: 1 });
});

test("addresses lead to the object that they name", () => {
  const ref = { apiVersion: "nexus.ai/v1", kind: "NexusAICapability", namespace: "team-a", name: "a/b" };
  assert.deepEqual(parse(addressOf(ref)), { view: "object", ref });
  assert.deepEqual(parse(addressOf({ ...ref, namespace: undefined })), { view: "object", ref: { ...ref, namespace: undefined } });
  for (const [hash, view] of [["", "list"], ["#/", "list"], ["#/plan", "plan"], ["#/object/x", "list"], ["#/object/%zz/a/b/c", "list"], ["#/nothing", "list"]] as const) {
    assert.equal(parse(hash).view, view);
  }
});

test("the manifest to edit has nothing that the API server adds", () => {
  const live = "apiVersion: v1\nkind: A\nmetadata:\n  annotations:\n    uid: mine\n  creationTimestamp: now\n  finalizers:\n  - a\n  name: x\n  uid: 1\nspec:\n  uid: kept\nstatus:\n  ready: true\n";
  assert.equal(declarationOf(live), "apiVersion: v1\nkind: A\nmetadata:\n  annotations:\n    uid: mine\n  name: x\nspec:\n  uid: kept");
});
