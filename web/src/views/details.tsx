// SPDX-License-Identifier: Apache-2.0

import { useLive, useWorld } from "../context";
import { Age, HealthMark, Note, Problem, useNow, Words } from "../parts";
import { addressOf, isOurs } from "../route";
import { keyOf } from "../store";
import type { Condition, Details, TreeNode } from "../types";
import { Happenings } from "./timeline";

export function DetailsPanel({ node }: { node: TreeNode }) {
  return (
    <section class="details" id="details" aria-labelledby="details-title">
      <h2 id="details-title">
        <HealthMark health={node.health} word={`${node.kind}/${node.name}`} />
      </h2>
      {node.apiVersion ? <Read node={node} apiVersion={node.apiVersion} /> : <p>{[node.reason, node.message].filter(Boolean).join(": ") || node.health}</p>}
    </section>
  );
}

const recoveryTexts = {
  Waiting: "The deletion can be undone until",
  Restoring: "The deletion is undone: what was kept stays in AWS. The time would have ended at",
  Released: "The namespace is being deleted: what was kept stays in AWS, and the deletion can be undone until",
  Ended: "The deletion can no longer be undone. The time ended at",
};

// Recovery tells of a deleted capability what is kept, until when, and with which commands a person decides.
function Recovery({ of, node }: { of: NonNullable<Details["recovery"]>; node: TreeNode }) {
  const command = (verb: string) => `nexusctl ${verb} ncap/${node.name} -n ${node.namespace}`;
  return (
    <section id="recovery">
      <h3>Recovery</h3>
      <p>
        {recoveryTexts[of.state]} <time dateTime={of.until}>{of.until}</time>.
      </p>
      {of.state === "Waiting" ? (
        <p>
          <code>{command("undo")}</code> brings the capability back, and <code>{command("delete-now")}</code> ends the wait.
        </p>
      ) : null}
      {of.kept?.length ? (
        <ul>
          {of.kept.map((k) => (
            <li key={`${k.kind}/${k.name}`}>
              {k.kind}/{k.name} {k.id ? <code>{k.id}</code> : null}
            </li>
          ))}
        </ul>
      ) : null}
    </section>
  );
}

function Read({ node, apiVersion }: { node: TreeNode; apiVersion: string }) {
  const { api } = useWorld();
  const key = keyOf(node);
  const { data, error, loading } = useLive<Details>(
    `${apiVersion} ${key}`,
    (signal) => api.get("object", { apiVersion, kind: node.kind, namespace: node.namespace, name: node.name }, signal),
    (c) => c.rows.has(key) || c.touched.some((t) => keyOf(t) === key),
  );
  const now = useNow();
  if (!data) {
    return loading ? <p role="status">Reading…</p> : <Problem error={error} />;
  }
  const writes = data.timeline.items.filter((h) => h.aws);
  return (
    <>
      <Problem error={error} />
      <dl class="facts">
        <dt>Namespace</dt>
        <dd>{node.namespace ?? "none"}</dd>
        <dt>Age</dt>
        <dd>
          <Age since={data.object.created} now={now} />
        </dd>
        {data.object.pods ? (
          <>
            <dt>Pods</dt>
            <dd>{data.object.pods}</dd>
          </>
        ) : null}
        {data.object.arn ? (
          <>
            <dt>AWS</dt>
            <dd>
              <code>{data.object.arn}</code>{" "}
              {data.console ? (
                <a href={data.console} target="_blank" rel="noreferrer noopener" class="console">
                  Open in the AWS console
                </a>
              ) : null}
            </dd>
          </>
        ) : null}
      </dl>
      {isOurs(apiVersion) ? (
        <p>
          <a href={addressOf({ ...node, apiVersion })}>Open as its own graph</a>
        </p>
      ) : null}
      {data.recovery ? <Recovery of={data.recovery} node={node} /> : null}
      <h3>Conditions</h3>
      {data.conditions.length ? (
        <ul class="conditions">
          {data.conditions.map((c) => (
            <ConditionItem key={c.type} c={c} now={now} />
          ))}
        </ul>
      ) : (
        <Note>The object has no conditions.</Note>
      )}
      {data.drift ? (
        <>
          <h3>Drift</h3>
          {data.drift.message ? <p>{data.drift.message}</p> : null}
          <FieldTable fields={data.drift.fields} policy={data.drift.policy} />
        </>
      ) : null}
      <h3>Last writes to AWS</h3>
      {writes.length ? <Happenings items={writes} now={now} object={false} /> : <Note>No event tells of a write. Events are kept for about an hour.</Note>}
      <h3>What happened</h3>
      {data.timeline.unread?.length ? <Note>You may not list {data.timeline.unread.join(", ")} objects.</Note> : null}
      <Happenings items={data.timeline.items} now={now} object={false} />
      <details>
        <summary>YAML</summary>
        <pre class="yaml" tabIndex={0} aria-label="YAML of the object">
          {data.manifest}
        </pre>
      </details>
    </>
  );
}

function ConditionItem({ c, now }: { c: Condition; now: number }) {
  return (
    <li>
      <p>
        <strong>
          {c.type}={c.status}
        </strong>{" "}
        {c.reason} <Age since={c.lastTransitionTime} now={now} />
      </p>
      {c.message ? <p>{c.message}</p> : null}
      {c.cause ? (
        <p>
          <b>Cause ({c.code}):</b> <Words text={c.cause} />
        </p>
      ) : null}
      {c.remedy ? (
        <p>
          <b>Remedy:</b> <Words text={c.remedy} />
        </p>
      ) : null}
    </li>
  );
}

// FieldTable compares the declared and the found values.
function FieldTable({ fields, policy }: { fields: { path: string; want?: string; have?: string }[]; policy: string }) {
  return (
    <table class="fields" id="drift">
      <caption>Drift policy: {policy}</caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Declared</th>
          <th scope="col">Found in AWS</th>
        </tr>
      </thead>
      <tbody>
        {fields.map((f) => (
          <tr key={f.path}>
            <th scope="row">{f.path}</th>
            <td>{f.want ?? "–"}</td>
            <td>{f.have ?? "–"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
