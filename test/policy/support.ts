import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  createPolicy,
  type PermissionPolicy,
  type PolicyOptions,
  type RulesQuestion,
} from "../../src/policy/engine.js";
import { loadPermissions } from "../../src/policy/profiles/load.js";
import type { PermissionTable } from "../../src/policy/profiles/permission-table.js";
import { loadAnalysis } from "../../src/shell/analysis.js";
import type { Effect } from "../../src/tool/effects.js";
import { tempDir } from "../support/runtime.js";

export interface Bench {
  readonly home: string;
  readonly cwd: string;
  readonly file: string;
  readonly table: PermissionTable;
  readonly policy: PermissionPolicy;
  ask(question: Asked): ReturnType<PermissionPolicy["decide"]>;
  explain(question: Asked): ReturnType<PermissionPolicy["explainDecision"]>;
}

export interface Asked {
  readonly effects?: readonly Effect[];
  readonly tool?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly profile?: string;
  readonly environment?: string;
  readonly environmentKind?: RulesQuestion["environmentKind"];
  readonly cwd?: string;
}

/** Rules as a person would write them, in a home of their own, and a policy that obeys them. */
export async function rulesBench(yaml: string, options: Partial<PolicyOptions> = {}): Promise<Bench> {
  const home = tempDir();
  const cwd = tempDir();
  const file = join(home, "hermes_permissions.yaml");
  if (yaml !== "") writeFileSync(file, yaml);
  await loadAnalysis();
  const table = await loadPermissions({ home, systemDir: join(home, "no-system") });
  const policy = createPolicy({ hermesHome: home, permissions: table, ...options });
  const question = (asked: Asked) => ({
    entry: { name: asked.tool ?? "some_tool" },
    args: asked.args ?? {},
    effects: asked.effects ?? [],
    session: {
      id: "s",
      profile: asked.profile ?? "default",
      cwd: asked.cwd ?? cwd,
      workspace: asked.cwd ?? cwd,
    },
    environment: asked.environment ?? "local",
    environmentKind: asked.environmentKind ?? "local",
    home: "/home/nobody",
  });
  return {
    home,
    cwd,
    file,
    table,
    policy,
    ask: (asked) => policy.decide(question(asked)),
    explain: (asked) => policy.explainDecision(question(asked)),
  };
}

export function writes(resource: string): Effect {
  return { action: "file:write", resource, mode: "write" };
}

export function reads(resource: string): Effect {
  return { action: "file:read", resource, mode: "read" };
}

export function runs(resource: string): Effect {
  return { action: "terminal:execute", resource, mode: "execute" };
}

export function fetches(resource: string): Effect {
  return { action: "network:fetch", resource, mode: "read" };
}

export function put(path: string, text = ""): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}
