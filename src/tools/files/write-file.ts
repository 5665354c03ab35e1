import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { refuseDevice, refuseProtectedWrite } from "./path-guard.js";
import { absolutePath, locate } from "./paths.js";
import { trackerOf } from "./read-tracker.js";
import { type LintReport, lintEdit } from "./syntax-check.js";
import { decodeText, detectEncoding, refuseBrokenUnicode } from "./text-encoding.js";
import { writeVerified } from "./write-verified.js";

const MAX_LINTED_BYTES = 2 * 1024 * 1024;

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
  readonly lint?: LintReport;
  readonly _warning?: string;
}

export default defineTool({
  name: "write_file",
  aliases: ["file_write"],
  toolset: "file",
  emoji: "✍️",
  description:
    "Write a whole file, replacing what was there; missing folders are created. " +
    "For a change inside an existing file use patch. New syntax errors in JSON, YAML and JavaScript are reported.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "File path, absolute or relative to the working directory" },
      content: { type: "string", description: "The complete new content" },
      cross_profile: {
        type: "boolean",
        default: false,
        description: "Allow writing into the folder of another profile, when the person asked for it",
      },
    },
    required: ["path", "content"],
    additionalProperties: false,
  },
  permissions: ["file:write"],

  effects: ({ path }, scope) => [
    { action: "file:write", resource: absolutePath(path, scope), mode: "write", reversible: false },
  ],

  async handler({ path, content, cross_profile }, ctx): Promise<WriteResult> {
    refuseBrokenUnicode(content, "content");
    const location = await locate(path, ctx);
    refuseDevice(location);
    await refuseProtectedWrite(location, ctx, { crossProfile: cross_profile });
    const stat = await ctx.environment.files.stat(location.real);
    if (stat !== undefined && stat.type !== "file") {
      throw new ToolError(
        `${location.path} is a ${stat.type === "directory" ? "directory" : "device, pipe, socket or link to nowhere"}, not a file.`,
        { code: "invalid_arguments", hint: "Name a file inside it, or another path." },
      );
    }
    const stale = trackerOf(ctx.session).changedSinceSeen(location.real, stat);
    const before =
      stat !== undefined && stat.size <= MAX_LINTED_BYTES ? await oldText(location.real, ctx) : undefined;
    const bytes = Buffer.from(content, "utf8");
    const written = await writeVerified({ real: location.real, bytes, ctx });
    const lint =
      bytes.length <= MAX_LINTED_BYTES
        ? await lintEdit({ path: location.path, before, after: content, ctx })
        : undefined;
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
      ...(lint !== undefined && { lint }),
      ...(stale && {
        _warning: `${location.path} had changed since you last read it; that other change is now overwritten.`,
      }),
    };
  },

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),
});

/** What the file held, for comparing syntax errors only: unreadable or binary is as good as nothing. */
async function oldText(path: string, ctx: CallContext): Promise<string | undefined> {
  const bytes = await ctx.environment.files.read(path).catch(() => undefined);
  const encoding = bytes === undefined ? undefined : detectEncoding(bytes);
  return bytes === undefined || encoding === undefined ? undefined : await decodeText(bytes, encoding);
}

function humanText(out: WriteResult): string {
  const lines = [`${out.created ? "created" : "wrote"} ${out.path} (${out.bytes_written} bytes)`];
  for (const error of out.lint?.errors ?? []) lines.push(`syntax: ${error}`);
  if (out._warning !== undefined) lines.push(out._warning);
  return lines.join("\n");
}
