// SPDX-License-Identifier: Apache-2.0

import { useState } from "preact/hooks";
import { useRows, useWorld } from "../context";
import { Age, HealthMark, Note, Pager, useNow, useTitle } from "../parts";
import { addressOf } from "../route";
import { capabilityKind, choices, type Filter, keyOf, noFilter, page, phaseOf, select } from "../store";
import type { Row } from "../types";

const pageSize = 50;

// remembered keeps the filter while another view is shown.
const remembered = { filter: noFilter, page: 0 };

export function List() {
  useTitle("Objects");
  const { session } = useWorld();
  const store = useRows();
  const now = useNow();
  const [filter, setFilter] = useState(remembered.filter);
  const [number, setNumber] = useState(remembered.page);
  const change = (more: Partial<Filter>) => {
    remembered.filter = { ...filter, ...more };
    setFilter(remembered.filter);
    go(0);
  };
  const go = (n: number) => {
    remembered.page = n;
    setNumber(n);
  };
  const all = [...store.rows.values()];
  const ofKind = filter.kind ? all.filter((r) => r.kind === filter.kind) : all;
  const found = select(all, filter);
  const shown = page(found, number, pageSize);
  const inTrouble = found.filter((r) => r.health === "Failed" || r.health === "Missing").length;
  return (
    <>
      <h1>{filter.kind === capabilityKind ? "Capabilities" : "Objects"}</h1>
      <form class="filters" role="search" onSubmit={(e) => e.preventDefault()}>
        <label>
          Search
          <input type="search" id="search" value={filter.text} onInput={(e) => change({ text: e.currentTarget.value })} />
        </label>
        <Choice label="Namespace" all="All namespaces" value={filter.namespace} values={choices(ofKind, (r) => r.namespace)} choose={(namespace) => change({ namespace })} />
        <Choice label="Kind" all="All kinds" value={filter.kind} values={choices(all, (r) => r.kind)} choose={(kind) => change({ kind, phase: "" })} />
        <Choice label="Phase" all="All phases" value={filter.phase} values={choices(ofKind, phaseOf)} choose={(phase) => change({ phase })} />
      </form>
      <p class="count" role="status">
        {store.synced ? `${found.length} of ${all.length} objects, ${inTrouble} in trouble` : `Reading objects: ${all.length} so far`}
      </p>
      {session.unlisted?.length ? <Note>You may not list these kinds, or the cluster lacks them: {session.unlisted.join(", ")}.</Note> : null}
      {found.length ? <Rows rows={shown.rows} now={now} /> : store.synced ? <Note>No object is selected.</Note> : null}
      <Pager number={shown.number} pages={shown.pages} go={go} />
    </>
  );
}

function Choice(p: { label: string; all: string; value: string; values: [string, number][]; choose: (v: string) => void }) {
  const values = p.value && !p.values.some(([v]) => v === p.value) ? [[p.value, 0] as [string, number], ...p.values] : p.values;
  return (
    <label>
      {p.label}
      <select id={`filter-${p.label.toLowerCase()}`} value={p.value} onChange={(e) => p.choose(e.currentTarget.value)}>
        <option value="">{p.all}</option>
        {values.map(([v, n]) => (
          <option key={v} value={v}>
            {v} ({n})
          </option>
        ))}
      </select>
    </label>
  );
}

function Rows({ rows, now }: { rows: Row[]; now: number }) {
  return (
    <table class="rows" id="objects">
      <caption class="hidden">Objects, the ones in trouble first</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Namespace</th>
          <th scope="col">Phase</th>
          <th scope="col">Progress</th>
          <th scope="col">Trouble</th>
          <th scope="col">Age</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((r) => (
          <tr key={keyOf(r)} data-key={keyOf(r)} data-health={r.health}>
            <th scope="row">
              <a href={addressOf(r)}>{r.name}</a>
              {r.kind === capabilityKind ? null : <span class="sub">{r.kind}</span>}
            </th>
            <td data-label="Namespace">{r.namespace ?? "–"}</td>
            <td data-label="Phase">
              <HealthMark health={r.health} word={phaseOf(r)} />
            </td>
            <td data-label="Progress">{r.progress ? <Progress text={r.progress} /> : "–"}</td>
            <td data-label="Trouble" class="trouble">
              {r.trouble ? (
                <>
                  <strong>{r.trouble}</strong> {withoutPrefix(r.message || r.reason || "", `${r.trouble}: `)}
                </>
              ) : r.drift ? (
                `${r.drift} ${r.drift === 1 ? "field differs" : "fields differ"} in AWS`
              ) : (
                "–"
              )}
            </td>
            <td data-label="Age">
              <Age since={r.created} now={now} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const withoutPrefix = (text: string, prefix: string) => (text.startsWith(prefix) ? text.slice(prefix.length) : text);

// Progress is steps that are done, of all, such as 9/11.
function Progress({ text }: { text: string }) {
  const [done, all] = text.split("/").map(Number);
  return (
    <span class="progress">
      {all ? <progress max={all} value={done} aria-label={`${text} steps`} /> : null} {text}
    </span>
  );
}
