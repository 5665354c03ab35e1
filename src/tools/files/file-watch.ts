import { relative } from "node:path/posix";
import type { FileChange } from "../../env/environment.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { refuseDevice } from "./path-guard.js";
import { absolutePath, locate } from "./paths.js";
import { globMatcher } from "./search/globs.js";
import type { WatchEvent } from "./watch/pending.js";
import { Watch, Watches, type WatchRequest } from "./watch/watches.js";

const CHANGES = ["created", "changed", "removed"] as const;
const DEFAULT_SECONDS = 60;
const MAX_SECONDS = 3_600;
const MAX_EVENTS = 1_000;
const MARGIN_MS = 30_000;

interface WatchResult {
  readonly success: true;
  readonly status: "success" | "watching" | "stopped";
  readonly path?: string;
  readonly watch_id?: string;
  readonly events?: readonly WatchEvent[];
  /** Nothing happened in time. */
  readonly timed_out?: true;
  /** More changed than could be remembered: look at the folder itself. */
  readonly dropped?: number;
  readonly waited_ms?: number;
  readonly watches?: readonly {
    readonly watch_id: string;
    readonly path: string;
    readonly started_at: string;
    readonly waiting: number;
    readonly told: number;
    readonly ended?: true;
  }[];
  readonly hint?: string;
}

export default defineTool({
  name: "file_watch",
  toolset: "files",
  emoji: "👁️",
  description:
    "Wait until a file or folder changes and tell what. background: true answers at once with a watch_id; then " +
    "action poll tells what has changed since, stop ends it.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["watch", "poll", "stop", "list"], default: "watch" },
      path: { type: "string", minLength: 1 },
      patterns: {
        type: "array",
        items: { type: "string", minLength: 1 },
        maxItems: 50,
        description: "Globs, e.g. *.ts or src/**.",
      },
      events: { type: "array", items: { type: "string", enum: CHANGES }, minItems: 1 },
      recursive: { type: "boolean", default: true },
      duration: {
        type: "number",
        minimum: 0,
        maximum: MAX_SECONDS,
        description: `Seconds to wait; default ${DEFAULT_SECONDS}, for poll 0.`,
      },
      max_events: {
        type: "integer",
        minimum: 1,
        maximum: MAX_EVENTS,
        description: "Wait for so many; default: for the first.",
      },
      background: { type: "boolean", default: false },
      watch_id: { type: "string", minLength: 1 },
    },
    additionalProperties: false,
  },
  permissions: ["file:read"],
  tolerant: true,
  timeoutMs: ({ duration }) => (duration ?? DEFAULT_SECONDS) * 1000 + MARGIN_MS,

  effects: ({ action, path }, scope) =>
    action === "watch" && path !== undefined
      ? [{ action: "file:read", resource: absolutePath(path, scope), mode: "read", reversible: true }]
      : [],

  async handler(args, ctx): Promise<WatchResult> {
    const watches = ctx.keep(Watches);
    switch (args.action) {
      case "list":
        return { success: true, status: "success", watches: watches.list().map(described) };
      case "poll":
        return toldBy(watches.get(args.watch_id), { args, ctx, seconds: 0 });
      case "stop": {
        const watch = watches.get(args.watch_id);
        const last = await toldBy(watch, { args: { duration: 0 }, ctx, seconds: 0 });
        watches.stop(watch);
        const { timed_out: _nothing, ...rest } = last;
        return { ...rest, status: "stopped" };
      }
      case "watch": {
        const request = await watchRequest(requiredPath(args.path), args, ctx);
        if (!args.background) return foreground(request, args, ctx);
        const watch = await watches.start(request);
        return {
          success: true,
          status: "watching",
          path: watch.path,
          watch_id: watch.id,
          hint: `Ask with {"action": "poll", "watch_id": "${watch.id}"}; it ends with the session.`,
        };
      }
    }
  },

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),

  examples: [
    {
      title: "See what has changed while other things were done",
      files: { "notes.txt": "old\n" },
      before: [
        { name: "file_watch", arguments: { path: ".", background: true } },
        { name: "write_file", arguments: { path: "notes.txt", content: "new\n" } },
      ],
      arguments: { action: "poll", duration: 20 },
      result: { events: [{ change: "changed" }] },
    },
  ],
});

interface WaitArgs {
  readonly duration?: number | undefined;
  readonly max_events?: number | undefined;
}

async function foreground(request: WatchRequest, args: WaitArgs, ctx: CallContext): Promise<WatchResult> {
  const watch = await Watch.start({ ...request, signal: ctx.signal });
  try {
    ctx.progress({ message: `watching ${watch.path}` });
    const { watch_id: _own, ...told } = await toldBy(watch, { args, ctx, seconds: DEFAULT_SECONDS });
    return told;
  } finally {
    watch.stop();
  }
}

async function toldBy(
  watch: Watch,
  { args, ctx, seconds }: { args: WaitArgs; ctx: CallContext; seconds: number },
): Promise<WatchResult> {
  const started = performance.now();
  const { events, dropped } = await watch.events({
    ms: (args.duration ?? seconds) * 1000,
    atLeast: args.max_events ?? 1,
    most: args.max_events ?? MAX_EVENTS,
    signal: ctx.signal,
  });
  return {
    success: true,
    status: "success",
    path: watch.path,
    watch_id: watch.id,
    events,
    waited_ms: Math.round(performance.now() - started),
    ...(events.length === 0 && { timed_out: true }),
    ...(dropped > 0 && { dropped, hint: "Too much has changed to tell it all: list the folder." }),
  };
}

async function watchRequest(
  path: string,
  args: {
    readonly patterns?: readonly string[] | undefined;
    readonly events?: readonly FileChange["change"][] | undefined;
    readonly recursive: boolean;
  },
  ctx: CallContext,
): Promise<WatchRequest> {
  const location = await locate(path, ctx);
  refuseDevice(location);
  const { files } = ctx.environment;
  const stat = await files.stat(location.real);
  if (stat?.type !== "directory" && stat?.type !== "file") {
    throw new ToolError(`${location.path} ${stat === undefined ? "does not exist" : "cannot be watched"}.`, {
      hint: "Watch the folder it will appear in, with its name in patterns.",
      details: { path: location.path },
    });
  }
  const globs = await Promise.all((args.patterns ?? []).map((glob) => globMatcher(glob)));
  // What git does for itself is no change of the project, unless somebody asks for it.
  const noGit = !/(?:^|\/)\.git(?:\/|$)/.test(`${location.path}/${(args.patterns ?? []).join("/")}`);
  return {
    files,
    path: location.path,
    real: location.real,
    recursive: args.recursive,
    wanted({ path: found, change }) {
      const below = relative(location.path, found);
      if (args.events !== undefined && !args.events.includes(change)) return false;
      if (noGit && below.split("/").includes(".git")) return false;
      return globs.length === 0 || globs.some((matches) => matches(below === "" ? found : below));
    },
  };
}

function described(watch: Watch) {
  return {
    watch_id: watch.id,
    path: watch.path,
    started_at: watch.startedAt,
    waiting: watch.waiting,
    told: watch.told,
    ...(watch.ended && { ended: true as const }),
  };
}

function requiredPath(path: string | undefined): string {
  if (path !== undefined) return path;
  throw new ToolError("It is not said what to watch.", {
    code: "invalid_arguments",
    hint: "Give path, a file or folder.",
  });
}

const SIGNS = { created: mark.added("+"), changed: mark.warning("~"), removed: mark.removed("-") } as const;

function humanText(out: WatchResult): string {
  if (out.watches !== undefined) {
    if (out.watches.length === 0) return "nothing is being watched";
    return columns(
      out.watches.map((watch) => [watch.watch_id, mark.path(watch.path), `${watch.waiting} not yet told`]),
    );
  }
  if (out.status === "watching") return `watching ${mark.path(out.path ?? "")} as ${out.watch_id}`;
  const lines = (out.events ?? []).map(({ path, change }) => `${SIGNS[change]} ${path}`);
  if (out.dropped !== undefined) lines.push(mark.warning(`and ${out.dropped} more`));
  if (out.status === "stopped") lines.push(mark.dim(`${out.watch_id} has ended`));
  return lines.length === 0 ? mark.dim(`nothing changed in ${out.path}`) : lines.join("\n");
}
