// SPDX-License-Identifier: Apache-2.0

import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { Answer, Api } from "./api";
import type { Change, Store } from "./store";
import type { Session } from "./types";

export interface World {
  api: Api;
  store: Store;
  session: Session;
}

export const Context = createContext<World | undefined>(undefined);

export function useWorld(): World {
  const world = useContext(Context);
  if (!world) {
    throw new Error("no server");
  }
  return world;
}

// refreshPace is the shortest time between two reads of the same data.
const refreshPace = 1000;

// useRows renders again after the rows changed, at most once per frame.
export function useRows(): Store {
  const { store } = useWorld();
  const [, setVersion] = useState(0);
  useEffect(() => {
    let frame = 0;
    const end = store.listen(() => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        setVersion((v) => v + 1);
      });
    });
    return () => {
      cancelAnimationFrame(frame);
      end();
    };
  }, [store]);
  return store;
}

export interface Loaded<T> {
  data?: T;
  notes?: string;
  error?: string;
  loading: boolean;
}

// useLive reads data, and reads it again after a change that concerns it. It never has two reads under way.
export function useLive<T>(key: string, read: (signal: AbortSignal) => Promise<Answer<T>>, concerns: (c: Change) => boolean): Loaded<T> {
  const { store } = useWorld();
  const [state, setState] = useState<Loaded<T>>({ loading: true });
  const latest = useRef({ read, concerns });
  latest.current = { read, concerns };
  useEffect(() => {
    const ended = new AbortController();
    let busy = false;
    let stale = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    setState({ loading: true });
    const load = async () => {
      busy = true;
      stale = false;
      let next: Loaded<T>;
      try {
        next = { ...(await latest.current.read(ended.signal)), loading: false };
      } catch (error) {
        next = { error: String(error instanceof Error ? error.message : error), loading: false };
      }
      if (ended.signal.aborted) {
        return;
      }
      busy = false;
      setState((before) => (next.error === undefined || before.data === undefined ? next : { ...before, error: next.error, loading: false }));
      if (stale) {
        later();
      }
    };
    const later = () => {
      stale = true;
      if (!busy && timer === undefined) {
        timer = setTimeout(() => {
          timer = undefined;
          void load();
        }, refreshPace);
      }
    };
    void load();
    const end = store.listen((c) => {
      if (latest.current.concerns(c)) {
        later();
      }
    });
    return () => {
      ended.abort();
      clearTimeout(timer);
      end();
    };
  }, [key, store]);
  return state;
}
