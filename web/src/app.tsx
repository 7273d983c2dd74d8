// SPDX-License-Identifier: Apache-2.0

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Api, readToken, Refused } from "./api";
import { Context, type World } from "./context";
import { parse } from "./route";
import { Store } from "./store";
import type { Session } from "./types";
import { IntentsView } from "./views/intents";
import { List } from "./views/list";
import { ObjectView } from "./views/object";
import { objectIn, PlanView } from "./views/plan";
import { TimelineView } from "./views/timeline";

const themes = ["auto", "light", "dark"] as const;
type Theme = (typeof themes)[number];
const themeKey = "nexusctl-theme";

function App({ api, store }: { api: Api; store: Store }) {
  const [session, setSession] = useState<Session>();
  const [problem, setProblem] = useState<string>();
  const [connected, setConnected] = useState(true);
  useEffect(() => {
    const ended = new AbortController();
    const fail = (error: unknown) => {
      if (!ended.signal.aborted) {
        setProblem(error instanceof Refused ? "The token of this page is missing or not valid any more. Open the address that nexusctl ui has printed." : String(error));
      }
    };
    api.get<Session>("session").then((a) => {
      setSession(a.data);
      api.follow((m) => store.apply(m), setConnected, ended.signal).catch(fail);
    }, fail);
    return () => ended.abort();
  }, [api, store]);
  if (problem) {
    return (
      <main>
        <h1>Nexus Operator</h1>
        <p class="problem" role="alert">
          {problem}
        </p>
      </main>
    );
  }
  if (!session) {
    return (
      <main>
        <h1>Nexus Operator</h1>
        <p role="status">Connecting…</p>
      </main>
    );
  }
  return <Frame world={{ api, store, session }} connected={connected} />;
}

function Frame({ world, connected }: { world: World; connected: boolean }) {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const move = () => {
      setHash(location.hash);
      document.getElementById("main")?.focus();
      scrollTo(0, 0);
    };
    addEventListener("hashchange", move);
    return () => removeEventListener("hashchange", move);
  }, []);
  const [path] = hash.split("?");
  const route = parse(path ?? "");
  const link = (view: string, text: string) => (
    <a href={view === "list" ? "#/" : `#/${view}`} aria-current={route.view === view ? "page" : undefined}>
      {text}
    </a>
  );
  return (
    <Context.Provider value={world}>
      <a class="skip" href="#main" onClick={(e) => (e.preventDefault(), document.getElementById("main")?.focus())}>
        Skip to the content
      </a>
      <header>
        <span class="brand">Nexus Operator</span>
        <nav aria-label="Views">
          {link("list", "Objects")} {link("intents", "Intents")} {link("timeline", "Timeline")} {link("plan", "Plan")}
        </nav>
        <span class="place">
          {world.session.context ?? ""}
          {world.session.namespace ? ` / ${world.session.namespace}` : ""}
        </span>
        <ThemeSwitch />
      </header>
      {connected ? null : (
        <p class="problem" role="alert">
          The connection to nexusctl ui is lost. The page shows what was known before, and connects again when it can.
        </p>
      )}
      <main id="main" tabIndex={-1}>
        {route.view === "object" ? (
          <ObjectView at={route.ref} />
        ) : route.view === "plan" ? (
          <PlanView of={objectIn(hash)} />
        ) : route.view === "intents" ? (
          <IntentsView />
        ) : route.view === "timeline" ? (
          <TimelineView />
        ) : (
          <List />
        )}
      </main>
      <footer>nexusctl {world.session.version}</footer>
    </Context.Provider>
  );
}

function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(themes.find((t) => t === localStorage.getItem(themeKey)) ?? "auto");
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(themeKey, theme);
  }, [theme]);
  return (
    <label class="theme">
      Theme{" "}
      <select id="theme" value={theme} onChange={(e) => setTheme(themes.find((t) => t === e.currentTarget.value) ?? "auto")}>
        {themes.map((t) => (
          <option key={t} value={t}>
            {t}
          </option>
        ))}
      </select>
    </label>
  );
}

render(<App api={new Api(readToken())} store={new Store()} />, document.getElementById("app")!);
