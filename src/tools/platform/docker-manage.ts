import { randomUUID } from "node:crypto";
import { isRecord } from "../../base/record.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import {
  ACTIONS,
  type DockerArguments,
  type EngineName,
  isCompose,
  onlyReads,
  problemWith,
  wordsFor,
} from "./docker/arguments.js";
import { dockerEffects } from "./docker/effects.js";
import {
  commandFor,
  type EngineAnswer,
  Engines,
  engineFailed,
  outsideOf,
  refuseInStrictBoundary,
  removeUnfinished,
  run,
} from "./docker/engine.js";
import {
  containerRow,
  imageRow,
  type Row,
  readRows,
  statsRow,
  withoutSecretVariables,
} from "./docker/rows.js";

/** The engine itself failed, not what it ran. */
const ENGINE_ERROR = 125;

export interface DockerOutput {
  readonly action: string;
  readonly engine: EngineName;
  readonly [field: string]: unknown;
}

const word = { type: "string", minLength: 1, maxLength: 1_000 } as const;

export default defineTool({
  name: "docker_manage",
  toolset: "containers",
  emoji: "🐳",
  description:
    "Containers and images with Docker or Podman. run waits for the end unless detach; images must be pulled or " +
    "built first.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: [...ACTIONS] },
      container: word,
      image: word,
      command: { type: "array", items: { type: "string" }, maxItems: 500, description: "For run and exec" },
      name: { ...word, description: "New container, or compose project" },
      env: { type: "object", additionalProperties: { type: "string" } },
      ports: { type: "array", items: word, maxItems: 100, description: "8080:80" },
      volumes: { type: "array", items: word, maxItems: 100, description: "name:/data or ./folder:/data:ro" },
      network: word,
      workdir: word,
      user: word,
      detach: { type: "boolean" },
      privileged: { type: "boolean" },
      all: { type: "boolean", description: "Stopped ones too" },
      force: { type: "boolean" },
      tail: { type: "integer", minimum: 1, maximum: 10_000, default: 200 },
      path: { ...word, description: "Folder of build or compose" },
      file: { ...word, description: "Dockerfile or compose file" },
      tag: { ...word, description: "Name of the built image" },
      engine: { type: "string", enum: ["auto", "docker", "podman"], default: "auto" },
      timeout_seconds: { type: "integer", minimum: 1, maximum: 1_800, default: 300 },
    },
    required: ["action"],
    additionalProperties: false,
  },
  permissions: ["docker:read", "docker:run", "file:read", "file:write", "network:fetch"],
  effects: dockerEffects,
  needs: {
    environment: true,
    anyOf: [{ programs: ["docker"] }, { programs: ["podman"] }],
    fix: "apt-get install podman",
  },
  timeoutMs: ({ timeout_seconds }) => timeout_seconds * 1000 + 60_000,
  tolerant: true,

  async handler(args, ctx): Promise<DockerOutput> {
    const problem = problemWith(args);
    if (problem !== undefined)
      throw new ToolError(`This cannot be done: ${problem}.`, {
        code: "invalid_arguments",
        hint: "Names and addresses are plain values; options of the engine are not passed on.",
      });
    if (!onlyReads(args)) await refuseInStrictBoundary(ctx);
    const engine = await ctx.keep(Engines).find(args.engine, ctx);
    return { action: args.action, engine, ...(await answer({ args, engine, ctx })) };
  },

  untrustedSource: (args) => outsideOf(args),

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),

  examples: [
    {
      title: "Which containers there are",
      programs: ["podman"],
      arguments: { action: "ps", all: true, engine: "podman" },
      result: { action: "ps", engine: "podman" },
    },
  ],
});

interface Doing {
  readonly args: DockerArguments;
  readonly engine: EngineName;
  readonly ctx: CallContext;
}

async function answer(doing: Doing): Promise<Row> {
  const { args, engine, ctx } = doing;
  const { action } = args;
  const runsProgram = (action === "run" || action === "exec") && args.detach !== true;
  const [verb = "", ...words] = wordsFor(args, engine);
  // The engine's program can be ended without the container it waits for: that is found again by its label.
  const label = runsProgram && action === "run" ? `hermes.run=${randomUUID()}` : undefined;
  const marked = label === undefined ? [verb, ...words] : [verb, "--label", label, ...words];
  const done = await run(await commandFor(marked, doing), {
    ctx,
    cwd: await folderOf(args, ctx),
    timeoutMs: args.timeout_seconds * 1000,
    merged: runsProgram || action === "logs",
    onOutput: (chunk) => {
      if (!onlyReads(args)) ctx.progress({ chunk });
    },
  }).catch(async (error: unknown) => {
    if (label !== undefined) await removeUnfinished({ label, engine, ctx });
    throw error;
  });
  if (runsProgram && done.exitCode !== ENGINE_ERROR)
    return { exit_code: done.exitCode, output: done.output, truncated: done.truncated };
  if (done.exitCode !== 0) throw engineFailed(args, done);
  return resultOf(args, done);
}

/** Relative names of `build` and `compose` begin in the folder they are about. */
async function folderOf(args: DockerArguments, ctx: CallContext): Promise<string | undefined> {
  if (!isCompose(args) || args.path === undefined) return undefined;
  return ctx.environment.files.realpath(ctx.environment.files.resolve(args.path, ctx.session.cwd));
}

function resultOf(args: DockerArguments, { output, stderr, truncated }: EngineAnswer): Row {
  switch (args.action) {
    case "ps":
      return { containers: readRows(output).map(containerRow), truncated };
    case "images":
      return { images: readRows(output).map(imageRow), truncated };
    case "stats":
      return { containers: readRows(output).map(statsRow), truncated };
    case "inspect":
      return { details: readRows(output).map(withoutSecretVariables)[0] ?? null, truncated };
    case "logs":
      return { container: args.container, output, truncated };
    case "run":
    case "exec":
      return { container: args.name ?? lastLine(output), id: lastLine(output) };
    case "start":
    case "stop":
      return { container: args.container, [`${args.action === "stop" ? "stopped" : "started"}`]: true };
    case "rm":
      return { removed: args.container ?? args.image };
    case "pull":
      return { image: args.image, id: lastLine(output) };
    default:
      return {
        output: [output.trim(), stderr]
          .filter((part) => part !== "")
          .join("\n")
          .slice(-8_000),
        truncated,
      };
  }
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}

function humanText(out: DockerOutput): string {
  const rows = ["containers", "images"].flatMap((field) => {
    const value = out[field];
    return Array.isArray(value) ? value.filter(isRecord) : [];
  });
  const [first] = rows;
  if (first !== undefined) {
    const names = Object.keys(first).filter((name) => name !== "command" && name !== "created");
    const shown = (row: Row, name: string) => {
      const value = row[name];
      const words = Array.isArray(value) ? value.join(" ") : String(value ?? "");
      return name === "id" ? mark.dim(words.slice(0, 12)) : words;
    };
    return columns([names.map(mark.heading), ...rows.map((row) => names.map((name) => shown(row, name)))]);
  }
  for (const field of ["containers", "images"]) if (Array.isArray(out[field])) return mark.dim(`no ${field}`);
  if (typeof out.output === "string" && out.output !== "") return out.output;
  const { action, engine, ...rest } = out;
  const words = Object.entries(rest).map(
    ([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value, null, 1) : value}`,
  );
  return `${mark.dim(`${engine} ${action}`)} ${words.join("  ")}`.slice(0, 20_000);
}
