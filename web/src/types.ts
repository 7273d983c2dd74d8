// SPDX-License-Identifier: Apache-2.0

// The answers of the API, as nexusctl prints them with -o json. Package internal/inspect and internal/plan document the fields.

export type Health = "Ready" | "Paused" | "Deleting" | "Unknown" | "Waiting" | "Progressing" | "Missing" | "Failed";

export interface Ref {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
}

export interface Row extends Ref {
  ready: boolean;
  phase?: string;
  progress?: string;
  reason?: string;
  message?: string;
  health: Health;
  code?: string;
  trouble?: string;
  capability?: string;
  drift?: number;
  created: string | null;
  version: string;
}

export interface Touched {
  kind: string;
  namespace: string;
  name: string;
  by: string;
}

export interface FeedMessage {
  reset?: boolean;
  synced?: boolean;
  rows?: Row[];
  removed?: string[];
  touched?: Touched[];
}

export interface Session {
  version: string;
  context?: string;
  namespace?: string;
  unlisted?: string[];
}

export interface TreeNode extends Omit<Ref, "apiVersion"> {
  apiVersion?: string;
  relation?: "Uses" | "UsedBy";
  health: Health;
  code?: string;
  reason?: string;
  message?: string;
  arn?: string;
  pods?: string;
  created?: string;
  waitsFor?: string[];
  children?: TreeNode[];
}

export interface Explanation {
  ready: boolean;
  cause?: TreeNode;
  remedy?: string;
  commands?: string[];
  path?: TreeNode[];
  waiting: number;
  failed?: TreeNode[];
}

export interface TreeAnswer {
  tree: { root: TreeNode };
  explanation: Explanation;
}

export interface Happening {
  time: string;
  source: "Event" | "Write" | "Phase";
  object: string;
  namespace?: string;
  who: string;
  reason: string;
  message?: string;
  warning?: boolean;
  aws?: boolean;
  count?: number;
}

export interface Timeline {
  items: Happening[];
  unread?: string[];
}

export interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime: string;
  code?: string;
  cause?: string;
  remedy?: string;
}

export interface Details {
  object: TreeNode;
  conditions: Condition[];
  drift?: { policy: string; fields: { path: string; want?: string; have?: string }[]; message?: string; since?: string };
  recovery?: { state: "Waiting" | "Restoring" | "Released" | "Ended"; until: string; kept?: { kind: string; name: string; id?: string }[] };
  console?: string;
  timeline: Timeline;
  manifest: string;
}

export interface Field {
  path: string;
  have?: string;
  want?: string;
  note?: string;
}

export type Risk = "" | "Safe" | "Disrupts" | "Destroys" | "DataLoss";
export type Action = "Create" | "Update" | "Delete" | "None";

export interface PlanItem extends Ref {
  owner?: string;
  action: Action;
  risk?: Risk;
  fields?: Field[];
  aws?: {
    account: string;
    region: string;
    id?: string;
    action: Action;
    risk?: Risk;
    cause?: string;
    reason?: string;
    fields?: Field[];
    calls?: { action: string; count: number; risk: Risk }[];
  };
  recoverable?: { until?: string; for?: string };
  note?: string;
  waits?: string;
  problem?: { reason: string; code?: string; field?: string; message: string };
}

export interface Plan {
  items: PlanItem[];
  summary: { create: number; update: number; delete: number; calls: number; problems: number; waits: number; reported?: number; risk?: Risk };
}

export type Level = "Enforced" | "Audited" | "Partial" | "None";

export interface EngineCoverage {
  intent: string;
  engine: string;
  level: Level;
  reason?: string;
  message?: string;
}

export interface CoverageReport {
  engines: string[];
  pods: { namespace: string; name: string; intents: { intent: string; policy: string; cluster?: boolean; engines: EngineCoverage[] }[] }[];
  idle?: { namespace?: string; name: string }[];
}
