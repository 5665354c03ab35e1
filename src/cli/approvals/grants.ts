import { visible } from "../../base/visible-text.js";
import { formatProblem } from "../../config/types.js";
import { type ListedGrant, listGrants, revokeGrant } from "../../policy/grants/config-grants.js";
import { grantRow } from "../../policy/grants/grant-row.js";
import { HermesError } from "../../tool/errors.js";
import type { CommandContext } from "../context.js";
import { brief } from "../output.js";

const HEAD = ["id", "covers", "where", "added", "expires", "uses", "origin", "written in"];

export async function grants({ out, config: load }: CommandContext): Promise<void> {
  const config = await load();
  const errors = config.problems.filter(({ severity }) => severity === "error");
  for (const problem of errors) out.note(formatProblem(problem));
  const rows = listGrants(config, { onTrouble: (message) => out.note(message) });
  const empty = 'No permanent grants. Answering "always" to a question adds one.';
  out.list({ rows, asJson: grantRow, head: HEAD, cells, empty });
  if (rows.length > 0) out.note('Take one back with "hermes approvals revoke ID".');
}

export async function revoke({ out, config, args }: CommandContext): Promise<void> {
  const [id = ""] = args;
  const done = await revokeGrant(await config(), id.trim().toLowerCase());
  if (!done.ok) throw new HermesError(done);
  out.result({ revoked: id, file: done.file }, `Grant ${id} is withdrawn (${done.file}).`);
}

function cells(grant: ListedGrant): readonly string[] {
  return [
    grant.id,
    `${grant.kind === "text" ? "" : `${grant.kind} `}${brief(visible(grant.text))}${remark(grant)}`,
    visible(grant.scope ?? "everywhere"),
    grant.added ?? "-",
    grant.expires ?? "never",
    `${grant.uses ?? "?"}${grant.maxUses === undefined ? "" : ` of ${grant.maxUses}`}`,
    brief(visible(grant.origin ?? "by hand"), 40),
    place(grant),
  ];
}

function remark({ state }: ListedGrant): string {
  if (state === "in force") return "";
  return state === "too wide" ? " (too wide: approves nothing)" : ` (${state})`;
}

function place({ file, line }: ListedGrant): string {
  if (file === undefined) return "a variable or flag";
  return line === undefined ? file : `${file}:${line}`;
}
