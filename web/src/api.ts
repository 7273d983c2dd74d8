// SPDX-License-Identifier: Apache-2.0

import { EventParser } from "./events";
import type { FeedMessage } from "./types";

const tokenKey = "nexusctl-token";

// readToken takes the token out of the address, and keeps it for reloads of this tab.
export function readToken(): string {
  const given = /(?:^#|&)token=([^&]+)/.exec(location.hash);
  if (given?.[1]) {
    sessionStorage.setItem(tokenKey, given[1]);
    history.replaceState(null, "", location.pathname + "#/");
  }
  return sessionStorage.getItem(tokenKey) ?? "";
}

// Refused says that the server does not know the token.
export class Refused extends Error {}

export interface Answer<T> {
  data: T;
  notes?: string;
}

export class Api {
  constructor(private readonly token: string) {}

  private async send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...init.headers, Authorization: `Bearer ${this.token}` };
    const response = await fetch(`api/${path}`, { ...init, headers, cache: "no-store" });
    if (response.status === 401) {
      throw new Refused(await response.text());
    }
    if (!response.ok) {
      throw new Error(`${response.status}: ${(await response.text()).trim()}`);
    }
    return response;
  }

  private async answer<T>(path: string, init: RequestInit): Promise<Answer<T>> {
    const response = await this.send(path, init);
    const body = (await response.json()) as { data?: T; notes?: string; error?: string };
    if (body.error !== undefined) {
      throw new Error(body.error);
    }
    return { data: body.data as T, ...(body.notes ? { notes: body.notes } : {}) };
  }

  get<T>(path: string, query: Record<string, string | undefined> = {}, signal?: AbortSignal): Promise<Answer<T>> {
    const set = Object.entries(query).filter((e): e is [string, string] => !!e[1]);
    const search = set.length ? `?${new URLSearchParams(set)}` : "";
    return this.answer<T>(path + search, signal ? { signal } : {});
  }

  post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<Answer<T>> {
    return this.answer<T>(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), ...(signal ? { signal } : {}) });
  }

  // follow hears the feed until the signal ends it. It connects again when the connection is lost. EventSource cannot send the token.
  async follow(hear: (m: FeedMessage) => void, connected: (is: boolean) => void, signal: AbortSignal): Promise<void> {
    for (let pause = 1000; !signal.aborted; pause = Math.min(pause * 2, 30_000)) {
      try {
        const response = await this.send("feed", { signal });
        const parser = new EventParser();
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
        connected(true);
        pause = 500;
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          for (const data of parser.feed(part.value)) {
            hear(JSON.parse(data) as FeedMessage);
          }
        }
      } catch (error) {
        if (error instanceof Refused) {
          throw error;
        }
      }
      connected(false);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
