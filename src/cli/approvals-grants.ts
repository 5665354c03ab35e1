import { visible } from "../base/visible-text.js";
import { loadConfig } from "../config/load.js";
import { formatProblem } from "../config/types.js";
import { type ListedGrant, listGrants } from "../policy/grants/manage.js";
import type { CommandContext } from "./globals.js";
import { brief, table } from "./output.js";

export async function run({ out, home, configFlags }: CommandContext): Promise<void> {
  const config = await loadConfig({ home, cwd: process.cwd(), env: process.env, flags: configFlags });
  const errors = config.problems.filter(({ severity }) => severity === "error");
  for (const problem of errors) out.note(formatProblem(problem));
  const grants = listGrants(config, { onTrouble: (message) => out.note(message) });
  if (out.json) return out.values(grants.map(asJson));
  if (grants.length === 0) {
    return out.line('No permanent grants. Answering "always" to a question adds one.');
  }
  const head = ["id", "covers", "where", "added", "expires", "uses", "origin", "written in"];
  const rows = grants.map((grant) => [
    grant.id,
    `${grant.kind === "text" ? "" : `${grant.kind} `}${brief(visible(grant.text))}${remark(grant)}`,
    visible(grant.scope ?? "everywhere"),
    grant.added ?? "-",
    grant.expires ?? "never",
    `${grant.uses ?? "?"}${grant.maxUses === undefined ? "" : ` of ${grant.maxUses}`}`,
    brief(visible(grant.origin ?? "by hand"), 40),
    place(grant),
  ]);
  for (const line of table([head, ...rows])) out.line(line);
  out.note('Take one back with "hermes approvals revoke ID".');
}

function remark({ state }: ListedGrant): string {
  if (state === "in force") return "";
  return state === "too wide" ? " (too wide: approves nothing)" : ` (${state})`;
}

function place({ file, line }: ListedGrant): string {
  if (file === undefined) return "a variable or flag";
  return line === undefined ? file : `${file}:${line}`;
}

function asJson(grant: ListedGrant): Record<string, unknown> {
  return {
    id: grant.id,
    kind: grant.kind,
    what: grant.text,
    scope: grant.scope ?? null,
    added: grant.added ?? null,
    expires: grant.expires ?? null,
    max_uses: grant.maxUses ?? null,
    uses: grant.uses ?? null,
    last_used: grant.lastUsed ?? null,
    origin: grant.origin ?? null,
    state: grant.state,
    file: grant.file ?? null,
    line: grant.line ?? null,
  };
}
