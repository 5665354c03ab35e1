import { setTimeout as delay } from "node:timers/promises";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import { mark, markDiff } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { unifiedDiff } from "./diff-text.js";
import { commitChanges } from "./patch/commit.js";
import { type FileChange, planChanges } from "./patch/plan.js";
import { type ReplaceOutcome, replaceText } from "./patch/replace.js";
import { readSnapshot } from "./patch/snapshot.js";
import { parseV4a } from "./patch/v4a-parse.js";
import { refuseDevice } from "./path-guard.js";
import { absolutePath, type Location, locate } from "./paths.js";
import { trackerOf } from "./read-tracker.js";
import { type LintReport, lintEdit } from "./syntax-check.js";
import { encodeText } from "./text-encoding.js";
import { isConflict, type Verification } from "./write-verified.js";

/** How often an edit is worked out anew when somebody else changed the file in between. */
const MAX_ATTEMPTS = 50;
const MAX_PAUSE_MS = 20;

interface PatchResult {
  readonly success: true;
  readonly status: "success";
  readonly environment: string;
  readonly diff: string;
  readonly files_modified: readonly string[];
  readonly files_created: readonly string[];
  readonly files_deleted: readonly string[];
  readonly lint?: LintReport | Record<string, LintReport> | undefined;
  readonly [field: string]: unknown;
}

interface ReplaceArguments {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

export default defineTool({
  name: "patch",
  toolset: "file",
  emoji: "🔧",
  description:
    "Change text in files. mode replace: put new_string for old_string in path; blanks, indentation and quotes may " +
    "differ a little. mode patch: a V4A patch over several files, all or nothing: *** Begin Patch, *** Update File: " +
    "p (then @@ and lines that begin with a blank, - or +), *** Add File: p, *** Delete File: p, *** Move File: " +
    "p -> q, *** End Patch.",
  parameters: {
    type: "object",
    properties: {
      mode: { type: "string", enum: ["replace", "patch"], default: "replace" },
      path: { type: "string" },
      old_string: { type: "string", description: "With enough context to be unique." },
      new_string: { type: "string" },
      replace_all: { type: "boolean", default: false },
      patch: { type: "string" },
    },
    additionalProperties: false,
  },
  permissions: ["file:write", "file:delete"],
  changesThroughEnvironment: true,
  examples: [
    {
      title: "Change a line, sent with other indentation than the file has",
      files: { "limits.py": "def limit(user):\n\tif user.admin:\n\t\treturn None\n\treturn 10\n" },
      arguments: {
        path: "limits.py",
        old_string: "    if user.admin:\n        return None",
        new_string: "    if user.admin:\n        audit(user)\n        return None",
      },
      result: {
        success: true,
        strategy: "line_trimmed",
        replacements: 1,
        diff:
          "--- a/limits.py\n+++ b/limits.py\n@@ -1,4 +1,5 @@\n def limit(user):\n \tif user.admin:\n+\t\taudit(user)\n" +
          " \t\treturn None\n \treturn 10\n",
        lint: { checker: "ruff", status: "ok" },
      },
    },
    {
      title: "Change, add and move files in one go, or nothing at all",
      files: { "app.txt": "name: demo\nport: 8080\n", "old.txt": "kept as it is\n" },
      arguments: {
        mode: "patch",
        patch: [
          "*** Begin Patch",
          "*** Update File: app.txt",
          "@@",
          " name: demo",
          "-port: 8080",
          "+port: 9090",
          "*** Add File: notes.txt",
          "+moved the port",
          "*** Move File: old.txt -> archive/old.txt",
          "*** End Patch",
        ].join("\n"),
      },
      result: { success: true, strategy: "exact", files_deleted: [] },
    },
  ],

  effects(args, scope): readonly Effect[] {
    if (!isPatchMode(args)) {
      return args.path === undefined ? [] : [changeEffect(absolutePath(args.path, scope))];
    }
    const parsed = parseV4a(args.patch ?? "");
    // A patch that cannot be read changes nothing: the handler refuses it.
    if (!parsed.ok) return [];
    return parsed.operations.flatMap((operation) => {
      const resource = absolutePath(operation.path, scope);
      if (operation.kind === "add") return [writeEffect(resource)];
      if (operation.kind === "delete") return [deleteEffect(resource)];
      if (operation.moveTo === undefined) return [changeEffect(resource)];
      return [deleteEffect(resource), writeEffect(absolutePath(operation.moveTo, scope))];
    });
  },

  async handler(args, ctx): Promise<PatchResult> {
    if (isPatchMode(args)) return await withRetries(() => applyPatch(args.patch ?? "", ctx));
    const { path, old_string: oldText, new_string: newText, replace_all: replaceAll } = args;
    if (path === undefined || oldText === undefined || newText === undefined) {
      throw new ToolError("mode replace needs path, old_string and new_string.", {
        code: "invalid_arguments",
        hint: 'Send all three, or mode: "patch" with a V4A patch.',
      });
    }
    return await withRetries(() => replaceInFile({ path, oldText, newText, replaceAll }, ctx));
  },

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),
});

function writeEffect(resource: string): Effect {
  return { action: "file:write", resource, mode: "write", reversible: false };
}

/** What does not fit is told with lines of the file, and what fits with a diff. */
function changeEffect(resource: string): Effect {
  return { ...writeEffect(resource), shown: true };
}

function deleteEffect(resource: string): Effect {
  return { action: "file:delete", resource, mode: "write", reversible: false, shown: true };
}

/** Models leave the mode out when they send a patch; a patch without old_string can mean nothing else. */
function isPatchMode(args: { mode: string; patch?: string; old_string?: string }): boolean {
  return args.mode === "patch" || ((args.patch ?? "") !== "" && (args.old_string ?? "") === "");
}

/** Each attempt works on what the files hold then, so no edit is lost and none is made on stale text. */
async function withRetries(attempt: () => Promise<PatchResult>): Promise<PatchResult> {
  for (let left = MAX_ATTEMPTS; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) || left <= 1) throw error;
      // By chance, so that two who met once do not meet again and again.
      await delay(Math.random() * MAX_PAUSE_MS);
    }
  }
}

async function replaceInFile(edit: ReplaceArguments, ctx: CallContext): Promise<PatchResult> {
  const location = await locate(edit.path, ctx);
  refuseDevice(location);
  const before = await readSnapshot(location, ctx);
  const stale = trackerOf(ctx).changedSinceSeen(
    location.real,
    await ctx.environment.files.stat(location.real),
  );
  const outcome = replaceText({ ...edit, text: before.text });
  if (outcome.kind === "refused") throw refusalError({ outcome, location, ctx });
  if (outcome.kind === "already_applied") {
    return {
      ...resultOf({ changes: [], diff: "", ctx }),
      path: location.path,
      message: `Nothing changed: old_string is gone and new_string stands at line ${outcome.line} already.`,
    };
  }
  const bytes = await encodeText(outcome.text, before.encoding);
  const change: FileChange = {
    kind: "modify",
    location,
    before,
    after: { text: outcome.text, bytes },
    strategies: [outcome.strategy],
  };
  const verified = await commitChanges([change], ctx);
  const lint = (await lintChanges([change], ctx))[location.path];
  return {
    ...resultOf({ changes: [change], diff: await diffOf(change, ctx), verified, ctx }),
    path: location.path,
    resolved_path: location.real,
    strategy: outcome.strategy,
    replacements: outcome.regions.length,
    lint,
    ...(stale && { _warning: `${location.path} had changed since you last read it; check the diff.` }),
  };
}

async function applyPatch(patch: string, ctx: CallContext): Promise<PatchResult> {
  const parsed = parseV4a(patch);
  if (!parsed.ok) throw new ToolError(parsed.message, { code: "invalid_arguments", hint: parsed.hint });
  const changes = await planChanges(parsed.operations, ctx);
  const verified = await commitChanges(changes, ctx);
  const diffs = await Promise.all(changes.map((change) => diffOf(change, ctx)));
  const lint = await lintChanges(changes, ctx);
  const strategies = [...new Set(changes.flatMap((change) => change.strategies))];
  return {
    ...resultOf({ changes, diff: diffs.join(""), verified, ctx }),
    paths: changes.map((change) => (change.target ?? change.location).path),
    strategy: strategies.join(", ") || "none",
    ...(Object.keys(lint).length > 0 && { lint }),
  };
}

function resultOf(made: {
  changes: readonly FileChange[];
  diff: string;
  verified?: Verification | undefined;
  ctx: CallContext;
}): PatchResult {
  const { changes, diff, verified, ctx } = made;
  const paths = (kind: FileChange["kind"]) =>
    effective.filter((change) => change.kind === kind).map((change) => change.location.path);
  const effective = changes.filter(
    (change) => change.kind !== "modify" || change.before?.text !== change.after?.text,
  );
  const moved = changes.filter((change) => change.kind === "move");
  return {
    success: true,
    status: "success",
    environment: ctx.environment.name,
    diff,
    files_modified: paths("modify"),
    files_created: paths("create"),
    files_deleted: paths("delete"),
    ...(moved.length > 0 && {
      files_moved: moved.map((change) => ({ from: change.location.path, to: change.target?.path })),
    }),
    ...(effective.length === 0 && { already_applied: true }),
    ...(effective.length === 0 && { verified: "unchanged" }),
    ...(effective.length > 0 && verified !== undefined && { verified }),
  };
}

function refusalError(failed: {
  outcome: Extract<ReplaceOutcome, { kind: "refused" }>;
  location: Location;
  ctx: CallContext;
}): ToolError {
  const { outcome, location, ctx } = failed;
  const failures = trackerOf(ctx).countPatchFailure(location.real);
  const stronger =
    failures >= 3
      ? ` This is failure ${failures} in a row on this file: your picture of it is out of date. Read it again now, or rewrite it with write_file.`
      : "";
  return new ToolError(`${location.path}: ${outcome.message}`, {
    code: outcome.notFound ? "failed" : "invalid_arguments",
    hint: outcome.hint + stronger,
    details: { path: location.path, failures_in_a_row: failures },
  });
}

function humanText(out: PatchResult): string {
  const lint = out.lint ?? {};
  const reports = isReport(lint) ? [lint] : Object.values(lint);
  const errors = reports.flatMap((report) => report.errors ?? []);
  const shown =
    out.diff === "" ? mark.dim(String(out.message ?? "nothing changed")) : markDiff(out.diff.trimEnd());
  const warning = typeof out._warning === "string" ? [mark.warning(out._warning)] : [];
  return [shown, ...errors.map((error) => mark.bad(`syntax: ${error}`)), ...warning].join("\n");
}

function isReport(lint: LintReport | Record<string, LintReport>): lint is LintReport {
  return typeof lint.checker === "string";
}

const MAX_DIFF_CHARS = 40_000;

function diffOf(change: FileChange, ctx: CallContext): Promise<string> {
  const { location, target, before, after } = change;
  return unifiedDiff(
    { path: location.path, movedTo: target?.path, before: before?.text, after: after?.text },
    { ctx, maxChars: MAX_DIFF_CHARS },
  );
}

/** New syntax errors by file. */
async function lintChanges(
  changes: readonly FileChange[],
  ctx: CallContext,
): Promise<Record<string, LintReport>> {
  const reports: Record<string, LintReport> = {};
  for (const { location, target, before, after } of changes) {
    if (after === undefined) continue;
    const { path } = target ?? location;
    const report = await lintEdit({ path, before: before?.text, after: after.text, ctx });
    if (report !== undefined) reports[path] = report;
  }
  return reports;
}
