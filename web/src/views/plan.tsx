// SPDX-License-Identifier: Apache-2.0

import { useEffect, useRef, useState } from "preact/hooks";
import { useWorld } from "../context";
import { Note, Problem, useTitle } from "../parts";
import type { Field, Plan, PlanItem, Ref } from "../types";

// maxFile is the size of a manifest that the server accepts, in bytes.
const maxFile = 2 << 20;

// objectIn reads the object that a link to this view names.
export function objectIn(hash: string): Ref | undefined {
  const [, query] = hash.split("?");
  const v = new URLSearchParams(query ?? "");
  const [apiVersion, kind, name] = [v.get("apiVersion"), v.get("kind"), v.get("name")];
  return apiVersion && kind && name ? { apiVersion, kind, name, namespace: v.get("namespace") || undefined } : undefined;
}

export function PlanView({ of }: { of: Ref | undefined }) {
  useTitle("Plan");
  const { api } = useWorld();
  const [manifest, setManifest] = useState("");
  const [remove, setRemove] = useState(false);
  const [skipAWS, setSkipAWS] = useState(false);
  const [state, setState] = useState<{ plan?: Plan; notes?: string; error?: string; busy: boolean }>({ busy: false });
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const run = async (body: object) => {
    running.current?.abort();
    const mine = (running.current = new AbortController());
    setState({ busy: true });
    try {
      const { data, notes } = await api.post<Plan>("plan", { ...body, delete: remove, skipAWS }, mine.signal);
      setState({ plan: data, ...(notes ? { notes } : {}), busy: false });
    } catch (error) {
      if (!mine.signal.aborted) {
        setState({ error: error instanceof Error ? error.message : String(error), busy: false });
      }
    }
  };
  const key = of ? JSON.stringify(of) : "";
  useEffect(() => {
    if (!of) {
      return;
    }
    void run(of);
    api
      .get<{ manifest: string }>("object", { ...of })
      .then((a) => setManifest(declarationOf(a.data.manifest)))
      .catch(() => undefined); // the plan says what is wrong
  }, [key]);
  const open = async (file: File | undefined) => {
    if (!file) {
      return;
    }
    if (file.size > maxFile) {
      setState({ error: `${file.name} has more than ${maxFile} bytes`, busy: false });
      return;
    }
    const text = await file.text();
    setManifest(text);
    void run({ manifest: text });
  };
  return (
    <>
      <h1>Plan</h1>
      <p>What the operator would do in Kubernetes and AWS. Nothing is changed.</p>
      <form
        class="plan"
        onSubmit={(e) => {
          e.preventDefault();
          void run({ manifest });
        }}
        onDragOver={(e) => e.preventDefault()}
        onDrop={(e) => {
          e.preventDefault();
          void open(e.dataTransfer?.files[0]);
        }}
      >
        <label for="manifest">Manifest: type or paste it, or drop a file here</label>
        <textarea id="manifest" rows={12} spellcheck={false} value={manifest} onInput={(e) => setManifest(e.currentTarget.value)} />
        <div class="actions">
          <label>
            File <input type="file" id="file" accept=".yaml,.yml,.json" onChange={(e) => void open(e.currentTarget.files?.[0])} />
          </label>
          <label>
            <input type="checkbox" checked={remove} onChange={(e) => setRemove(e.currentTarget.checked)} /> Plan the deletion
          </label>
          <label>
            <input type="checkbox" checked={skipAWS} onChange={(e) => setSkipAWS(e.currentTarget.checked)} /> Compare Kubernetes objects only
          </label>
          <button type="submit" id="run-plan" disabled={state.busy || !manifest.trim()}>
            Plan the manifest
          </button>
          {of ? (
            <button type="button" id="run-now" disabled={state.busy} onClick={() => void run(of)}>
              What would happen now to {of.kind}/{of.name}
            </button>
          ) : null}
        </div>
      </form>
      {state.busy ? <p role="status">Planning…</p> : null}
      <Problem error={state.error} />
      {state.notes ? <Note>{state.notes}</Note> : null}
      {state.plan ? <Result plan={state.plan} /> : null}
    </>
  );
}

// declarationOf is a manifest without what the API server has added.
export function declarationOf(manifest: string): string {
  const out: string[] = [];
  let skipping = false;
  let inMetadata = false;
  for (const line of manifest.split("\n")) {
    if (/^\S/.test(line)) {
      inMetadata = line.startsWith("metadata:");
      skipping = line.startsWith("status:");
    } else if (inMetadata && /^ {2}\S/.test(line)) {
      skipping = /^ {2}(creationTimestamp|generation|resourceVersion|uid|finalizers|selfLink|deletionTimestamp|deletionGracePeriodSeconds|ownerReferences|managedFields):/.test(line) || (skipping && /^ {2}- /.test(line));
    }
    if (!skipping) {
      out.push(line);
    }
  }
  return out.join("\n");
}

const words = { Create: "created", Update: "changed", Delete: "deleted", None: "unchanged" };

function Result({ plan }: { plan: Plan }) {
  const s = plan.summary;
  const items = plan.items.filter((i) => i.action !== "None" || (i.aws && i.aws.action !== "None") || i.problem || i.waits);
  return (
    <section id="plan-result" aria-labelledby="plan-title">
      <h2 id="plan-title">
        {s.create} to create, {s.update} to change, {s.delete} to delete; {s.calls} AWS calls
      </h2>
      {s.risk ? <p class={`risk ${s.risk}`}>Risk: {riskText(s.risk)}</p> : null}
      {s.problems ? <p class="risk Destroys">Problems: {s.problems}</p> : null}
      {items.length ? null : <p>Nothing would change.</p>}
      <ul class="plan-items">
        {items.map((i) => (
          <Item key={`${i.kind}/${i.namespace}/${i.name}`} i={i} />
        ))}
      </ul>
    </section>
  );
}

function riskText(risk: string): string {
  return { Safe: "none", Disrupts: "disrupts what runs", Destroys: "deletes an AWS resource", DataLoss: "deletes data" }[risk] ?? risk;
}

function Item({ i }: { i: PlanItem }) {
  const action = i.action === "None" && i.aws ? i.aws.action : i.action;
  return (
    <li class={`item ${action}`}>
      <h3>
        {{ Create: "+", Update: "~", Delete: "−", None: "=" }[action]} {i.kind} {i.namespace ? `${i.namespace}/` : ""}
        {i.name} <span class="sub">
          {words[action]}
          {i.recoverable ? ` (recoverable ${i.recoverable.until ? `until ${i.recoverable.until}` : `for ${i.recoverable.for}`})` : ""}
        </span>
      </h3>
      {i.problem ? (
        <p class="problem">
          {i.problem.field ? `${i.problem.field}: ` : ""}
          {i.problem.message}
        </p>
      ) : null}
      {i.waits ? <p>Waits for {i.waits}</p> : null}
      {i.note ? <p>{i.note}</p> : null}
      <Fields fields={i.fields} />
      {i.aws ? (
        <>
          <p>
            AWS {i.aws.region}: {words[i.aws.action]}
            {i.aws.cause ? ` (${i.aws.cause})` : ""}
            {i.aws.risk ? `, risk: ${riskText(i.aws.risk)}` : ""}
            {i.aws.reason ? `. ${i.aws.reason}` : ""}
          </p>
          <Fields fields={i.aws.fields} />
          {i.aws.calls?.length ? <p class="sub">{i.aws.calls.map((c) => (c.count > 1 ? `${c.count} × ${c.action}` : c.action)).join(", ")}</p> : null}
        </>
      ) : null}
    </li>
  );
}

function Fields({ fields }: { fields: Field[] | undefined }) {
  if (!fields?.length) {
    return null;
  }
  return (
    <dl class="changes">
      {fields.map((f) => (
        <div key={f.path}>
          <dt>{f.path}</dt>
          <dd>
            {f.have !== undefined ? <del>{f.have}</del> : null} {f.want !== undefined ? <ins>{f.want}</ins> : null} {f.note ? <span class="sub">{f.note}</span> : null}
          </dd>
        </div>
      ))}
    </dl>
  );
}
