import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark, markDiff } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { unifiedDiff } from "./diff-text.js";
import { refuseDevice } from "./path-guard.js";
import { absolutePath, locate } from "./paths.js";
import { trackerOf } from "./read-tracker.js";
import { isChecked, type LintReport, lintEdit } from "./syntax-check.js";
import { decodeText, detectEncoding, refuseBrokenUnicode } from "./text-encoding.js";
import { writeVerified } from "./write-verified.js";

/** What a file held is read again only up to this size: to compare errors, and to show what changed. */
const MAX_COMPARED_BYTES = 512 * 1024;
const MAX_DIFFED_BYTES = 64 * 1024;
const MAX_DIFF_CHARS = 6_000;

interface WriteResult {
  readonly success: true;
  readonly status: "success";
  readonly path: string;
  readonly resolved_path: string;
  readonly environment: string;
  readonly bytes_written: number;
  readonly created: boolean;
  readonly dirs_created: boolean;
  readonly files_modified: readonly string[];
  readonly verified: string;
  /** What changed in a text file that was there; for people, who did not write it. */
  readonly diff?: string | undefined;
  readonly lint?: LintReport | undefined;
  readonly _warning?: string | undefined;
}

export default defineTool({
  name: "write_file",
  aliases: ["file_write"],
  toolset: "file",
  emoji: "✍️",
  description:
    "Write a whole file, replacing what was there; creates missing folders and reports new syntax errors. To " +
    "change part of a file use patch.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string" },
      content: { type: "string" },
      cross_profile: {
        type: "boolean",
        default: false,
        description: "Write into another profile's folder; only if the person asked.",
      },
    },
    required: ["path", "content"],
    additionalProperties: false,
  },
  permissions: ["file:write"],
  changesThroughEnvironment: true,
  examples: [
    {
      title: "Write a file in a folder that does not exist yet",
      arguments: { path: "docs/hello.md", content: "# Hello\n" },
      result: { success: true, bytes_written: 8, created: true, dirs_created: true },
    },
    {
      title: "Replace a file and hear about a syntax error that was not there before",
      files: { "limits.json": '{ "port": 8080 }\n' },
      arguments: { path: "limits.json", content: '{ "port": 9090, }\n' },
      result: {
        success: true,
        created: false,
        diff: '--- a/limits.json\n+++ b/limits.json\n@@ -1,1 +1,1 @@\n-{ "port": 8080 }\n+{ "port": 9090, }\n',
        lint: { checker: "json", status: "error" },
      },
    },
  ],

  effects: ({ path, cross_profile }, scope) => [
    {
      action: "file:write",
      resource: absolutePath(path, scope),
      mode: "write",
      reversible: false,
      crossProfile: cross_profile,
    },
  ],

  async handler({ path, content }, ctx): Promise<WriteResult> {
    refuseBrokenUnicode(content, "content");
    const location = await locate(path, ctx);
    refuseDevice(location);
    const looking = ctx.environment.files.stat(location.real);
    const bytes = Buffer.from(content, "utf8");
    const stat = await looking;
    if (stat !== undefined && stat.type !== "file") {
      throw new ToolError(
        `${location.path} is a ${stat.type === "directory" ? "directory" : "device, pipe, socket or link to nowhere"}, not a file.`,
        { code: "invalid_arguments", hint: "Name a file inside it, or another path." },
      );
    }
    const stale = trackerOf(ctx).changedSinceSeen(location.real, stat);
    const size = stat === undefined ? undefined : Math.max(stat.size, bytes.length);
    const before = isCompared(location.path, size) ? await oldText(location.real, ctx) : undefined;
    const written = await writeVerified({ real: location.real, bytes, ctx });
    const lint = await lintEdit({ path: location.path, before, after: content, ctx });
    const diff =
      before === undefined || (size ?? 0) > MAX_DIFFED_BYTES
        ? ""
        : await unifiedDiff(
            { path: location.path, before, after: content },
            { ctx, maxChars: MAX_DIFF_CHARS },
          );
    return {
      success: true,
      status: "success",
      path: location.path,
      resolved_path: location.real,
      environment: ctx.environment.name,
      bytes_written: bytes.length,
      created: written.created,
      dirs_created: written.dirsCreated,
      files_modified: [location.path],
      verified: written.verified,
      ...(diff !== "" && { diff }),
      lint,
      ...(stale && {
        _warning: `${location.path} had changed since you last read it; that other change is now overwritten.`,
      }),
    };
  },

  // The model knows what it has written.
  present: ({ diff, ...out }) => ({ model: [text(JSON.stringify(out))], human: humanText(out, diff) }),
});

/** `size`: of the larger of both texts; undefined when there is no old one. */
function isCompared(path: string, size: number | undefined): boolean {
  return size !== undefined && size <= (isChecked(path) ? MAX_COMPARED_BYTES : MAX_DIFFED_BYTES);
}

/** What the file held, for comparing only: unreadable or binary is as good as nothing. */
async function oldText(path: string, ctx: CallContext): Promise<string | undefined> {
  const bytes = await ctx.environment.files.read(path).catch(() => undefined);
  const encoding = bytes === undefined ? undefined : detectEncoding(bytes);
  return bytes === undefined || encoding === undefined ? undefined : await decodeText(bytes, encoding);
}

function humanText(out: Omit<WriteResult, "diff">, diff: string | undefined): string {
  const lines = [`${out.created ? "created" : "wrote"} ${mark.path(out.path)} (${out.bytes_written} bytes)`];
  if (diff !== undefined) lines.push(markDiff(diff.trimEnd()));
  for (const error of out.lint?.errors ?? []) lines.push(mark.bad(`syntax: ${error}`));
  if (out._warning !== undefined) lines.push(mark.warning(out._warning));
  return lines.join("\n");
}
