// SPDX-License-Identifier: Apache-2.0

import { useState } from "preact/hooks";
import { useLive, useRows, useWorld } from "../context";
import { LevelMark, Note, Pager, Problem, useTitle } from "../parts";
import { choices, page } from "../store";
import type { CoverageReport } from "../types";

const pageSize = 50;
const kinds = ["NimbusPolicy/", "ClusterNimbusPolicy/", "SecurityIntent/", "SecurityIntentBinding/", "ClusterSecurityIntentBinding/"];

export function IntentsView() {
  useTitle("Intents");
  const { api, session } = useWorld();
  const store = useRows();
  const [namespace, setNamespace] = useState("");
  const [number, setNumber] = useState(0);
  const { data, error, loading } = useLive<CoverageReport>(
    `intents ${namespace}`,
    (signal) => api.get("intents", { namespace }, signal),
    (c) => [...c.rows].some((key) => kinds.some((k) => key.startsWith(k))) || c.touched.some((t) => t.by === "Deployment"),
  );
  const shown = page(data?.pods ?? [], number, pageSize);
  return (
    <>
      <h1>Security intents</h1>
      {session.namespace ? null : (
        <form class="filters" onSubmit={(e) => e.preventDefault()}>
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
        </form>
      )}
      <Problem error={error} />
      {loading && !data ? <p role="status">Reading…</p> : null}
      {data ? <p role="status">{data.pods.length} pods are selected by intents</p> : null}
      {data?.pods.length ? (
        <div class="scroll" role="region" aria-label="Pods by engines" tabIndex={0}>
          <table class="matrix" id="matrix">
            <caption class="hidden">What each engine does for the intents of each pod</caption>
            <thead>
              <tr>
                <th scope="col">Pod</th>
                <th scope="col">Intent</th>
                {data.engines.map((e) => (
                  <th scope="col" key={e}>
                    {e}
                  </th>
                ))}
              </tr>
            </thead>
            {shown.rows.map((p) => (
              <tbody key={`${p.namespace}/${p.name}`}>
                {p.intents.map((i, at) => (
                  <tr key={`${i.cluster ? "*" : ""}${i.policy} ${i.intent}`}>
                    {at === 0 ? (
                      <th scope="rowgroup" rowSpan={p.intents.length}>
                        {p.name}
                        <span class="sub">{p.namespace}</span>
                      </th>
                    ) : null}
                    <th scope="row">
                      {i.intent}
                      <span class="sub">{i.cluster ? `${i.policy} (cluster)` : i.policy}</span>
                    </th>
                    {data.engines.map((name) => {
                      const e = i.engines.find((c) => c.engine === name);
                      return (
                        <td key={name} data-level={e?.level ?? ""}>
                          {e ? (
                            <>
                              <LevelMark level={e.level} reason={e.reason} />
                              {e.reason ? <span class="sub">{e.reason}</span> : null}
                              {e.message ? <span class="why">{e.message}</span> : null}
                            </>
                          ) : (
                            "–"
                          )}
                        </td>
                      );
                    })}
                  </tr>
                ))}
              </tbody>
            ))}
          </table>
        </div>
      ) : null}
      {data && !data.pods.length ? <Note>No pod is selected by a policy of a security intent.</Note> : null}
      {data?.idle?.length ? <Note>Policies that select no pod: {data.idle.map((p) => (p.namespace ? `${p.namespace}/${p.name}` : p.name)).join(", ")}.</Note> : null}
      <Pager number={shown.number} pages={shown.pages} go={setNumber} />
    </>
  );
}
