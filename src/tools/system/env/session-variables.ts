import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";

const TIMEOUT_MS = 20_000;
const MAX_CHARS = 4_000_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** What belongs to one shell only, and what marks the processes of the runtime. */
const NOT_SHOWN = /^(?:_|SHLVL|PWD|OLDPWD|HERMES_.*)$/;
/** Carries a value to the shell: an argument could be seen by every user of the machine. */
const CARRIER = "HERMES_NEW_VALUE";

/** What a command of this session finds in its environment. */
export async function sessionVariables(ctx: CallContext): Promise<Readonly<Record<string, string>>> {
  const output = await run("env -0", ctx);
  const values: Record<string, string> = {};
  for (const entry of output.split("\0")) {
    const name = entry.slice(0, entry.indexOf("="));
    if (NAME.test(name) && !NOT_SHOWN.test(name)) values[name] = entry.slice(name.length + 1);
  }
  return values;
}

/** Sets, or with an undefined value takes away, a variable of all commands that follow. */
export async function changeSessionVariable(
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
