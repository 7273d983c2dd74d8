// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { boxHeight, boxWidth, draw, edgesOf, pathOf, shortName, withoutShortcuts } from "../src/layout";
import type { TreeNode } from "../src/types";

const node = (kind: string, name: string, more: Partial<TreeNode> = {}): TreeNode => ({ apiVersion: "v1", kind, namespace: "team-a", name, health: "Ready", ...more });

const shop = node("NexusAICapability", "shop", {
  children: [
    node("AWSProvider", "aws", { relation: "Uses" }),
    node("S3Bucket", "logs", { waitsFor: ["AWSProvider/aws"] }),
    node("IAMRole", "app", { waitsFor: ["S3Bucket/logs", "AWSProvider/aws", "Nothing/gone"] }),
    node("Deployment", "backend", { namespace: "shop-dev", waitsFor: ["IAMRole/app"], children: [node("Pod", "backend-1", { namespace: "shop-dev" })] }),
  ],
});

test("the root waits for what nothing else waits for", () => {
  const edges = edgesOf(shop).edges.map((e) => `${e.from} ${e.kind} ${e.to}`);
  assert.deepEqual(edges, [
    "Deployment/shop-dev/backend owns Pod/shop-dev/backend-1",
    "S3Bucket/logs waits AWSProvider/aws",
    "IAMRole/app waits S3Bucket/logs",
    "IAMRole/app waits AWSProvider/aws",
    "Deployment/shop-dev/backend waits IAMRole/app",
    "NexusAICapability/shop waits Deployment/shop-dev/backend",
  ]);
});

test("an object stands left of the ones that it waits for, and no two overlap", () => {
  const picture = draw(shop);
  const x = new Map(picture.boxes.map((b) => [b.id, b.x]));
  for (const line of picture.lines) {
    assert.ok(x.get(line.from)! < x.get(line.to)!, `${line.from} → ${line.to}`);
    assert.match(pathOf(line), /^M[\d. -]+(L[\d. -]+)+$/);
  }
  for (const a of picture.boxes) {
    assert.ok(a.x >= 0 && a.x + boxWidth <= picture.width && a.y >= 0 && a.y + boxHeight <= picture.height);
    for (const b of picture.boxes) {
      assert.ok(a === b || Math.abs(a.x - b.x) >= boxWidth || Math.abs(a.y - b.y) >= boxHeight, `${a.id} and ${b.id}`);
    }
  }
});

test("a way that a longer one contains is not drawn, and is still told", () => {
  const picture = draw(shop);
  const lines = picture.lines.map((l) => `${l.from} → ${l.to}`);
  assert.ok(lines.includes("IAMRole/app → S3Bucket/logs") && !lines.includes("IAMRole/app → AWSProvider/aws"), lines.join("\n"));
  assert.deepEqual(picture.boxes.find((b) => b.id === "IAMRole/app")?.waits, ["S3Bucket/logs", "AWSProvider/aws"]);
  const edge = (from: string, to: string) => ({ from, to, kind: "waits" as const });
  assert.equal(withoutShortcuts([edge("a", "b"), edge("b", "a")]).length, 2);
});

test("a name is shown without the part that all have in common", () => {
  assert.equal(shortName("shop-logs", "shop"), "…-logs");
  assert.equal(shortName("shop", "shop"), "shop");
  assert.equal(shortName("shopping", "shop"), "shopping");
});

test("an object without children is drawn alone", () => {
  const picture = draw(node("S3Bucket", "logs"));
  assert.equal(picture.boxes.length, 1);
  assert.deepEqual(picture.lines, []);
});

test("objects that use a provider wait for it", () => {
  const { edges } = edgesOf(node("AWSProvider", "aws", { children: [node("S3Bucket", "logs", { relation: "UsedBy" })] }));
  assert.deepEqual(edges, [{ from: "S3Bucket/logs", to: "AWSProvider/aws", kind: "waits" }]);
});
