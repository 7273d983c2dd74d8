// SPDX-License-Identifier: Apache-2.0

import { useState } from "preact/hooks";
import { useLive, useRows, useWorld } from "../context";
import { Age, Note, Pager, Problem, useNow, useTitle } from "../parts";
import { choices, page } from "../store";
import type { Happening, Timeline } from "../types";

const pageSize = 100;

export function TimelineView() {
  useTitle("Timeline");
  const { api, session } = useWorld();
  const store = useRows();
  const now = useNow();
  const [namespace, setNamespace] = useState("");
  const [source, setSource] = useState("");
  const [number, setNumber] = useState(0);
  const { data, error, loading } = useLive<Timeline>(
    `timeline ${namespace}`,
    (signal) => api.get("timeline", { namespace }, signal),
    (c) => c.touched.some((t) => t.by === "Event" && (!namespace || t.namespace === namespace)) || [...c.rows].some((k) => !namespace || k.split("/")[1] === namespace),
  );
  const items = (data?.items ?? []).filter((h) => !source || (source === "AWS" ? h.aws : source === "Warning" ? h.warning : h.source === source));
  const shown = page(items, number, pageSize);
  return (
    <>
      <h1>What the operator did</h1>
      <form class="filters" onSubmit={(e) => e.preventDefault()}>
        {session.namespace ? null : (
          <label>
            Namespace
            <select value={namespace} onChange={(e) => (setNamespace(e.currentTarget.value), setNumber(0))}>
              <option value="">All namespaces</option>
              {choices(store.rows.values(), (r) => r.namespace).map(([n]) => (
                <option key={n} value={n}>
                  {n}
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          Show
          <select value={source} onChange={(e) => (setSource(e.currentTarget.value), setNumber(0))}>
            <option value="">Everything</option>
            <option value="AWS">Writes to AWS</option>
            <option value="Warning">Warnings</option>
            <option value="Event">Events</option>
            <option value="Write">Writes to objects</option>
            <option value="Phase">Changes of phase</option>
          </select>
        </label>
      </form>
      <Problem error={error} />
      {data?.unread?.length ? <Note>You may not list these kinds, or the cluster lacks them: {data.unread.join(", ")}.</Note> : null}
      {loading && !data ? <p role="status">Reading…</p> : <p role="status">{items.length} entries</p>}
      {data ? <Happenings items={shown.rows} now={now} object /> : null}
      <Pager number={shown.number} pages={shown.pages} go={setNumber} />
    </>
  );
}

// Happenings lists what happened, the newest first.
export function Happenings({ items, now, object }: { items: Happening[]; now: number; object: boolean }) {
  if (!items.length) {
    return <Note>No entries.</Note>;
  }
  return (
    <ol class="happenings">
      {items.map((h, i) => (
        <li key={`${h.time} ${h.object} ${h.reason} ${i}`} class={h.warning ? "warning" : h.aws ? "aws" : ""}>
          <span class="when">
            <Age since={h.time} now={now} />
          </span>
          <span>
            {object ? (
              <strong>
                {h.namespace ? `${h.namespace} ` : ""}
                {h.object}{" "}
              </strong>
            ) : null}
            {h.warning ? "Warning: " : h.aws ? "AWS: " : ""}
            {h.reason}
            {(h.count ?? 1) > 1 ? ` (${h.count} times)` : ""}
            {h.message ? `: ${h.message}` : ""} <span class="sub">{h.who}</span>
          </span>
        </li>
      ))}
    </ol>
  );
}
