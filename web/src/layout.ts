// SPDX-License-Identifier: Apache-2.0

import { Graph, layout } from "@dagrejs/dagre";
import type { TreeNode } from "./types";

// Box is a node with its place.
export interface Box {
  id: string;
  node: TreeNode;
  x: number;
  y: number;
  // waits names the nodes that this one waits for.
  waits: string[];
}

// Line is an edge from a node to one that it waits for, or that it uses or owns.
export interface Line {
  from: string;
  to: string;
  kind: "waits" | "owns";
  points: { x: number; y: number }[];
}

export interface Picture {
  boxes: Box[];
  lines: Line[];
  width: number;
  height: number;
}

export const boxWidth = 178;
export const boxHeight = 52;

// idOf names a node as waitsFor does: with its namespace where that is not the one of the root.
export const idOf = (n: TreeNode, home: string | undefined) => (!n.namespace || n.namespace === home ? `${n.kind}/${n.name}` : `${n.kind}/${n.namespace}/${n.name}`);

interface Edge {
  from: string;
  to: string;
  kind: Line["kind"];
}

// edgesOf finds the nodes and edges of a tree. The root waits for the objects that no other one waits for.
export function edgesOf(root: TreeNode): { nodes: Map<string, TreeNode>; edges: Edge[] } {
  const nodes = new Map<string, TreeNode>();
  const edges: Edge[] = [];
  const visit = (n: TreeNode, parent: string | undefined) => {
    const id = idOf(n, root.namespace);
    if (!nodes.has(id)) {
      nodes.set(id, n);
    }
    if (parent && parent !== idOf(root, root.namespace)) {
      edges.push(n.relation === "UsedBy" ? { from: id, to: parent, kind: "waits" } : { from: parent, to: id, kind: n.relation === "Uses" ? "waits" : "owns" });
    }
    n.children?.forEach((c) => visit(c, id));
  };
  visit(root, undefined);
  const top = idOf(root, root.namespace);
  const awaited = new Set<string>();
  for (const child of root.children ?? []) {
    for (const to of child.waitsFor ?? []) {
      if (nodes.has(to)) {
        awaited.add(to);
        edges.push({ from: idOf(child, root.namespace), to, kind: "waits" });
      }
    }
  }
  for (const child of root.children ?? []) {
    const id = idOf(child, root.namespace);
    if (!awaited.has(id)) {
      edges.push(child.relation === "UsedBy" ? { from: id, to: top, kind: "waits" } : { from: top, to: id, kind: "waits" });
    }
  }
  return { nodes, edges };
}

// withoutShortcuts leaves out the edges that a longer way says already, so that the picture is readable.
export function withoutShortcuts(edges: Edge[]): Edge[] {
  const next = new Map<string, string[]>();
  for (const e of edges) {
    next.set(e.from, [...(next.get(e.from) ?? []), e.to]);
  }
  const reach = new Map<string, Set<string>>();
  const reached = (id: string, above: Set<string>): Set<string> => {
    const known = reach.get(id);
    if (known) {
      return known;
    }
    const all = new Set<string>();
    reach.set(id, all);
    for (const to of next.get(id) ?? []) {
      if (!above.has(to)) {
        all.add(to);
        reached(to, new Set(above).add(id)).forEach((far) => all.add(far));
      }
    }
    return all;
  };
  return edges.filter((e) => !(next.get(e.from) ?? []).some((other) => other !== e.to && reached(other, new Set([e.from])).has(e.to)));
}

// shortName leaves out of a name what it has in common with the name of the root.
export const shortName = (name: string, root: string) => (name !== root && name.startsWith(`${root}-`) ? `…${name.slice(root.length)}` : name);

// draw places the nodes of a tree, from the root on the left to the objects that wait for nothing on the right.
export function draw(root: TreeNode): Picture {
  const { nodes, edges: all } = edgesOf(root);
  const edges = withoutShortcuts(all);
  const g = new Graph();
  g.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 40, marginx: 8, marginy: 8 });
  g.setDefaultEdgeLabel(() => ({}));
  for (const id of nodes.keys()) {
    g.setNode(id, { width: boxWidth, height: boxHeight });
  }
  for (const e of edges) {
    g.setEdge(e.from, e.to, { kind: e.kind });
  }
  layout(g);
  const waits = (id: string) => all.filter((e) => e.from === id && e.kind === "waits").map((e) => e.to);
  const boxes = [...nodes].map(([id, node]) => {
    const { x = 0, y = 0 } = g.node(id) as { x?: number; y?: number };
    return { id, node, x: x - boxWidth / 2, y: y - boxHeight / 2, waits: waits(id) };
  });
  const lines = edges.map((e) => ({ ...e, points: ((g.edge(e.from, e.to) as { points?: { x: number; y: number }[] }).points ?? []) }));
  const { width = 0, height = 0 } = g.graph() as { width?: number; height?: number };
  return { boxes: boxes.sort((a, b) => a.x - b.x || a.y - b.y), lines, width, height };
}

// pathOf is the path of a line as SVG writes it.
export const pathOf = (l: Line) => l.points.map((p, i) => `${i ? "L" : "M"}${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join("");
