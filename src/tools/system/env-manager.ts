import { quoteForShell } from "../../base/quote.js";
import { namesSecret } from "../../policy/secrets.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect, EffectScope } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";
import type { CallContext, SecretAccess } from "../../tool/tool.js";
import { absolutePath } from "../files/paths.js";
import { changeDotenv, openDotenv } from "./env/dotenv-file.js";

interface EnvAnswer {
  readonly success: true;
  readonly status: "success";
  readonly action: "get" | "list" | "set" | "unset";
  readonly scope: "session" | "file";
  readonly file?: string | undefined;
  readonly key?: string;
  /** Null when there is no such variable. */
  readonly value?: string | null;
  readonly exists?: boolean;
  readonly changed?: boolean;
  readonly variables?: Readonly<Record<string, string>>;
  readonly count?: number;
}

export default defineTool({
  name: "env_manager",
  toolset: "env",
  emoji: "🌱",
  description:
    "Read and change environment variables of this session's commands, or with scope file those in a .env file. " +
    "Secret values are shown as ***; commands still get them.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["get", "list", "set", "unset"] },
      key: { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_.]*$", maxLength: 256 },
      value: { type: "string", maxLength: 65_536 },
      scope: { type: "string", enum: ["session", "file"], default: "session" },
      file: { type: "string", default: ".env" },
    },
    required: ["action"],
    additionalProperties: false,
  },
  permissions: ["env:read", "env:write", "file:read", "file:write", "terminal:execute"],
  effects: (args, scope) => (args.scope === "file" ? fileEffects(args, scope) : sessionEffects(args)),
  secretsIn: ({ key = "", value }) =>
    value !== undefined && shownValue(key, value, NOBODY) === MASKED ? { [key]: value } : {},

  async handler(args, ctx): Promise<EnvAnswer> {
    const { action, scope } = args;
    const answer = { success: true, status: "success", action, scope } as const;
    if (action === "list") {
      const { values, ...place } = await read(args, ctx);
      const shown = Object.keys(values)
        .sort()
        .map((name) => [name, shownValue(name, values[name] ?? "", ctx.secrets)] as const);
      return { ...answer, ...place, variables: Object.fromEntries(shown), count: shown.length };
    }
    const key = needed(args.key, `The action ${action} needs a key.`);
    if (action === "get") {
      const { values, ...place } = await read(args, ctx);
      const value = Object.hasOwn(values, key) ? values[key] : undefined;
      const shown = value === undefined ? null : shownValue(key, value, ctx.secrets);
      return { ...answer, ...place, key, value: shown, exists: value !== undefined };
    }
    const value = action === "set" ? needed(args.value, "The action set needs a value.") : undefined;
    if (value?.includes("\0") === true) {
      throw new ToolError("The value holds a NUL character, which no variable can.", {
        code: "invalid_arguments",
        hint: "Encode it, for example as base64.",
      });
    }
    const shown = value === undefined ? null : shownValue(key, value, ctx.secrets);
    if (scope === "session") {
      await changeSessionVariable({ key, value }, ctx);
      return { ...answer, key, value: shown };
    }
    const { path, changed } = await changeDotenv({ file: args.file, key, value }, ctx);
    return { ...answer, file: path, key, value: shown, changed };
  },

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),

  examples: [
    {
      title: "Set a variable for all commands that follow",
      arguments: { action: "set", key: "APP_MODE", value: "staging" },
      result: { success: true, scope: "session", key: "APP_MODE", value: "staging" },
    },
    {
      title: "Change one value of a file of variables; the secret stays hidden and comments stay",
      files: { "service.env": "# where it listens\nPORT=3000\nAPI_KEY='k-1234567890' # ask Ada\n" },
      before: [
        {
          name: "env_manager",
          arguments: { action: "set", key: "PORT", value: "8080", scope: "file", file: "service.env" },
        },
      ],
      arguments: { action: "list", scope: "file", file: "service.env" },
      result: { variables: { API_KEY: "***", PORT: "8080" }, count: 2 },
    },
  ],
});

interface Arguments {
  readonly action: EnvAnswer["action"];
  readonly key?: string | undefined;
  readonly value?: string | undefined;
  readonly scope: EnvAnswer["scope"];
  readonly file: string;
}

const NOBODY = { get: () => undefined, add: () => undefined };

function isReading(action: EnvAnswer["action"]): boolean {
  return action === "get" || action === "list";
}

/** A variable can make later programs run other code, so setting one is judged as the command that would do it. */
function sessionEffects({ action, key = "*", value = "" }: Arguments): readonly Effect[] {
  if (isReading(action)) return [{ action: "env:read", resource: key, mode: "read" }];
  const command = action === "set" ? `export ${key}=${quoteForShell(value)}` : `unset ${key}`;
  return [
    { action: "env:write", resource: key, mode: "write", reversible: true },
    { action: "terminal:execute", resource: command, mode: "execute" },
  ];
}

function fileEffects({ action, file }: Arguments, scope: EffectScope): readonly Effect[] {
  const resource = absolutePath(file, scope);
  return isReading(action)
    ? [
        { action: "env:read", resource, mode: "read" },
        { action: "file:read", resource, mode: "read", shown: false },
      ]
    : [
        { action: "env:write", resource, mode: "write" },
        { action: "file:write", resource, mode: "write", reversible: false },
      ];
}

async function read(
  { scope, file }: Arguments,
  ctx: CallContext,
): Promise<{ readonly values: Readonly<Record<string, string>>; readonly file?: string | undefined }> {
  if (scope === "session") return { values: await sessionVariables(ctx) };
  const { path, exists, values } = await openDotenv(file, ctx);
  if (exists) return { values, file: path };
  throw new ToolError(`There is no file ${path}.`, {
    code: "not_found",
    hint: "Name the file with `file`, or make it with action set.",
  });
}

function needed(value: string | undefined, problem: string): string {
  if (value !== undefined) return value;
  throw new ToolError(problem, { code: "invalid_arguments", hint: "Call again with it." });
}

function humanText(out: EnvAnswer): string {
  const place = out.file === undefined ? "in this session" : `in ${out.file}`;
  if (out.variables !== undefined) {
    const rows = Object.entries(out.variables).map(([name, value]) => [mark.strong(name), shown(value)]);
    return rows.length === 0 ? `no variables ${place}` : columns(rows);
  }
  const key = out.key ?? "";
  if (out.action === "unset") return `${mark.strong(key)} is not set any more ${place}`;
  if (out.exists === false) return `${mark.strong(key)} is not set ${place}`;
  return `${mark.strong(key)}=${shown(out.value ?? "")} ${mark.dim(place)}`;
}

function shown(value: string): string {
  const line = value.replaceAll("\n", "⏎");
  return value === MASKED ? mark.dim(line) : line.length > 120 ? `${line.slice(0, 119)}…` : line;
}

const MASKED = "***";
const URL_PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)([^\s/]+)(@.*)$/is;

/** A value as it may be shown. What is hidden here is hidden from now on in every other result, too. */
function shownValue(key: string, value: string, secrets: SecretAccess): string {
  if (value === "") return value;
  if (namesSecret(key)) {
    secrets.add(key, value);
    return MASKED;
  }
  const address = URL_PASSWORD.exec(value);
  if (address === null) return value;
  secrets.add(key, address[2] ?? "");
  return `${address[1]}${MASKED}${address[3]}`;
}

const TIMEOUT_MS = 20_000;
const MAX_CHARS = 4_000_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** What belongs to one shell only, and what marks the processes of the runtime. */
const NOT_SHOWN = /^(?:_|SHLVL|PWD|OLDPWD|HERMES_.*)$/;
/** Carries a value to the shell: an argument could be seen by every user of the machine. */
const CARRIER = "HERMES_NEW_VALUE";

/** What a command of this session finds in its environment. */
async function sessionVariables(ctx: CallContext): Promise<Readonly<Record<string, string>>> {
  const output = await run("env -0", ctx);
  const values: Record<string, string> = {};
  for (const entry of output.split("\0")) {
    const name = entry.slice(0, entry.indexOf("="));
    if (NAME.test(name) && !NOT_SHOWN.test(name)) values[name] = entry.slice(name.length + 1);
  }
  return values;
}

/** Sets, or with an undefined value takes away, a variable of all commands that follow. */
async function changeSessionVariable(
  { key, value }: { readonly key: string; readonly value: string | undefined },
  ctx: CallContext,
): Promise<void> {
  if (!NAME.test(key)) {
    throw new ToolError(`${key} cannot be a variable of commands.`, {
      code: "invalid_arguments",
      hint: "Use letters, digits and underscores, not starting with a digit.",
    });
  }
  // The same way as a command of the person would do it, so the same rules say what is carried on.
  if (value === undefined) await run(`unset -v ${key}`, ctx);
  else await run(`export ${key}="$${CARRIER}"`, ctx, { [CARRIER]: value });
  const now = await sessionVariables(ctx);
  if ((Object.hasOwn(now, key) ? now[key] : undefined) === value) return;
  throw new ToolError(`${key} is not carried on from one command of a session to the next.`, {
    code: "denied",
    hint: `Set it for one command instead: terminal with \`${key}=… command\`.`,
  });
}

async function run(command: string, ctx: CallContext, env: Record<string, string> = {}): Promise<string> {
  const result = await ctx.environment.exec({
    command,
    cwd: ctx.session.cwd,
    env,
    timeoutMs: TIMEOUT_MS,
    signal: ctx.signal,
    maxOutputChars: MAX_CHARS,
    separateStderr: true,
  });
  if (result.exitCode === 0 && !result.truncated) return result.output;
  const why = result.truncated ? "they are too large to be read" : lastLine(result.stderr);
  throw new ToolError(`The variables of the session could not be reached: ${why}.`, {
    code: result.timedOut ? "timeout" : result.cancelled ? "cancelled" : "failed",
    hint: "Some names, such as UID, belong to the shell and cannot be changed.",
  });
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) || "the shell did not say why";
}
