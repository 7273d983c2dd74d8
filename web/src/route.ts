// SPDX-License-Identifier: Apache-2.0

import type { Ref } from "./types";

export type Route = { view: "list" } | { view: "object"; ref: Ref } | { view: "plan" } | { view: "intents" } | { view: "timeline" };

// parse reads the fragment of an address; everything that is unknown is the list.
export function parse(hash: string): Route {
  const parts = hash.replace(/^#\/?/, "").split("/").map(decode);
  switch (parts[0]) {
    case "plan":
    case "intents":
    case "timeline":
      return { view: parts[0] };
    case "object": {
      const [, apiVersion, kind, namespace, name] = parts;
      if (apiVersion && kind && name) {
        return { view: "object", ref: { apiVersion, kind, namespace: namespace || undefined, name } };
      }
    }
  }
  return { view: "list" };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

export const addressOf = (r: Ref) => `#/object/${[r.apiVersion, r.kind, r.namespace ?? "", r.name].map(encodeURIComponent).join("/")}`;

// isOurs reports whether an object is of a kind of the operator, which alone have trees and plans.
export const isOurs = (apiVersion: string) => /^(nexus\.ai|aws-infra-operator\.runner\.codes|intent\.security\.nimbus\.com)\//.test(apiVersion);
