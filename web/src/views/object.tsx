// SPDX-License-Identifier: Apache-2.0

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLive, useWorld } from "../context";
import { boxHeight, boxWidth, draw, idOf, pathOf, shortName } from "../layout";
import { HealthMark, HealthShape, Note, Problem, toneOf, useTitle, Words } from "../parts";
import { addressOf, isOurs } from "../route";
import { keyOf } from "../store";
import type { Explanation, Ref, TreeAnswer, TreeNode } from "../types";
import { DetailsPanel } from "./details";

// namespacesIn are the namespaces of a tree.
function namespacesIn(n: TreeNode, into = new Set<string>()): Set<string> {
  into.add(n.namespace ?? "");
  n.children?.forEach((c) => namespacesIn(c, into));
  return into;
}

export function ObjectView({ at }: { at: Ref }) {
  const { api } = useWorld();
  const title = `${at.kind} ${at.namespace ? `${at.namespace}/` : ""}${at.name}`;
  useTitle(title);
  const spaces = useRef(new Set([at.namespace ?? ""]));
  const { data, notes, error, loading } = useLive<TreeAnswer>(
    keyOf(at),
    (signal) => api.get("tree", { ...at }, signal),
    (c) => [...c.rows].some((key) => spaces.current.has(key.split("/")[1] ?? "")) || c.touched.some((t) => spaces.current.has(t.namespace)),
  );
  const root = data?.tree.root;
  useEffect(() => {
    if (root) {
      spaces.current = namespacesIn(root);
    }
  }, [root]);
  const [chosen, choose] = useState<string>();
  const [form, setForm] = useState<"graph" | "list">("graph");
  useEffect(() => choose(undefined), [keyOf(at)]);
  const picture = useMemo(() => (root ? draw(root) : undefined), [root]);
  const graph = useRef<HTMLDivElement>(null);
  const cause = data?.explanation.cause;
  const center = root && idOf(cause ?? root, root.namespace);
  useEffect(() => {
    // The cause of the trouble is in view at first, and later what the reader scrolls to.
    const box = picture?.boxes.find((b) => b.id === center);
    if (box && graph.current) {
      graph.current.scrollTo(box.x + boxWidth / 2 - graph.current.clientWidth / 2, box.y + boxHeight / 2 - graph.current.clientHeight / 2);
    }
  }, [keyOf(at), center, form]);
  const selected = picture?.boxes.find((b) => b.id === chosen)?.node;
  return (
    <>
      <h1>
        {root ? <HealthShape health={root.health} /> : null} {title}
      </h1>
      <p class="actions">
        <a href="#/">All objects</a> <a href={`#/plan?${new URLSearchParams({ ...at, namespace: at.namespace ?? "" })}`}>What would happen now</a>
      </p>
      <Problem error={error} />
      {notes ? <Note>{notes}</Note> : null}
      {loading && !data ? <p role="status">Reading…</p> : null}
      {data && root && picture ? (
        <>
          <Cause e={data.explanation} />
          <div class="switch" role="group" aria-label="Form">
            <button type="button" aria-pressed={form === "graph"} onClick={() => setForm("graph")}>
              Graph
            </button>
            <button type="button" aria-pressed={form === "list"} onClick={() => setForm("list")}>
              List
            </button>
          </div>
          {form === "graph" ? (
            <>
              <div class="graph" id="graph" ref={graph} role="region" aria-label={`Graph of ${title}`} tabIndex={0}>
                <div class="canvas" style={{ width: `${picture.width}px`, height: `${picture.height}px` }}>
                  <svg width={picture.width} height={picture.height} aria-hidden="true">
                    <defs>
                      <marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto">
                        <path d="M0 0L8 4L0 8z" class="arrow" />
                      </marker>
                    </defs>
                    {picture.lines.map((l) => (
                      <path key={`${l.from} ${l.to}`} d={pathOf(l)} class={`line ${l.kind} ${chosen && (l.from === chosen || l.to === chosen) ? "near" : ""}`} marker-end={l.kind === "waits" ? "url(#arrow)" : undefined} />
                    ))}
                  </svg>
                  {picture.boxes.map((b) => (
                    <button
                      key={b.id}
                      type="button"
                      class={`box ${toneOf(b.node.health)}`}
                      title={b.id}
                      data-id={b.id}
                      data-health={b.node.health}
                      aria-pressed={b.id === chosen}
                      style={{ left: `${b.x}px`, top: `${b.y}px`, width: `${boxWidth}px`, height: `${boxHeight}px` }}
                      onClick={() => choose(b.id)}
                    >
                      <HealthShape health={b.node.health} />
                      <span>
                        <span class="kind" aria-hidden="true">
                          {b.node.kind}
                        </span>
                        <span class="name" aria-hidden="true">
                          {shortName(b.node.name, root.name)}
                        </span>
                        <span class="hidden">{`${b.id}, ${b.node.health}${b.waits.length ? `, waits for ${b.waits.join(", ")}` : ""}`}</span>
                      </span>
                    </button>
                  ))}
                </div>
              </div>
              <p class="legend">
                An arrow leads from an object to one that it waits for; a dashed line to one that belongs to it. <HealthMark health="Ready" /> <HealthMark health="Progressing" /> <HealthMark health="Waiting" />{" "}
                <HealthMark health="Failed" /> <HealthMark health="Missing" /> <HealthMark health="Paused" /> <HealthMark health="Deleting" /> <HealthMark health="Unknown" />
              </p>
            </>
          ) : (
            <ul class="tree" id="tree">
              <Branch node={root} home={root.namespace} chosen={chosen} choose={choose} />
            </ul>
          )}
          <DetailsPanel node={selected ?? root} key={chosen ?? ""} />
        </>
      ) : null}
    </>
  );
}

function Branch({ node, home, chosen, choose }: { node: TreeNode; home: string | undefined; chosen: string | undefined; choose: (id: string) => void }) {
  const id = idOf(node, home);
  return (
    <li>
      <button type="button" class="leaf" data-id={id} aria-pressed={id === chosen} onClick={() => choose(id)}>
        <HealthMark health={node.health} word={id} />
        <span class="sub">
          {node.health}
          {node.pods ? ` ${node.pods}` : ""}
          {node.relation === "Uses" ? ", used" : ""}
        </span>
      </button>
      {node.children?.length ? (
        <ul>
          {node.children.map((c) => (
            <Branch key={idOf(c, home)} node={c} home={home} chosen={chosen} choose={choose} />
          ))}
        </ul>
      ) : null}
    </li>
  );
}

// Cause says why the object is not ready, as nexusctl explain does.
function Cause({ e }: { e: Explanation }) {
  if (e.ready || !e.cause) {
    return <p class="cause good">The object is ready.</p>;
  }
  const cause = e.cause;
  return (
    <section class="cause bad" id="cause" aria-labelledby="cause-title">
      <h2 id="cause-title">Why it is not ready</h2>
      <p>
        <HealthMark health={cause.health} word={`${cause.kind}/${cause.name}`} /> {cause.reason ? <strong>{cause.reason}</strong> : null} {cause.message}
        {cause.apiVersion && isOurs(cause.apiVersion) ? (
          <>
            {" "}
            <a href={addressOf({ ...cause, apiVersion: cause.apiVersion })}>
              Open {cause.kind}/{cause.name}
            </a>
          </>
        ) : null}
      </p>
      {e.remedy ? (
        <p class="remedy">
          <Words text={e.remedy} />
        </p>
      ) : null}
      {e.commands?.length ? <pre tabIndex={0} aria-label="Commands that help">{e.commands.join("\n")}</pre> : null}
      {e.waiting ? <p>Other objects that wait: {e.waiting}</p> : null}
      {e.failed?.length ? (
        <ul>
          {e.failed.map((n) => (
            <li key={`${n.kind}/${n.namespace}/${n.name}`}>
              <HealthMark health={n.health} word={`${n.kind}/${n.name}`} /> {n.reason}: {n.message}
            </li>
          ))}
        </ul>
      ) : null}
    </section>
  );
}
