import { homedir } from "node:os";
import { resolve as resolvePath } from "node:path";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";

const ACCEPTED = /^[\p{L}\p{M}\p{N}/\\:_\-.~ +@=,]+$/u;

/** Where a command runs: what the caller asked for, or where the session stands. */
export function workingDirectory(workdir: string | undefined, ctx: CallContext): string {
  if (workdir === undefined || workdir === "") return ctx.session.cwd;
  if (ACCEPTED.test(workdir)) return ctx.environment.files.resolve(workdir, ctx.session.cwd);
  throw new ToolError(
    `The working directory ${JSON.stringify(workdir)} holds characters that are not accepted.`,
    {
      code: "invalid_arguments",
      hint: "Use letters, digits, spaces and / \\ : _ - . ~ + @ = , only.",
    },
  );
}

/** The same for effects, which are worked out without an environment. */
export function declaredDirectory(
  workdir: string | undefined,
  { cwd, home = homedir() }: { readonly cwd: string; readonly home?: string },
): { readonly cwd?: string } {
  if (workdir === undefined || workdir === "") return {};
  return { cwd: resolvePath(cwd, workdir.replace(/^~(?=\/|$)/, home)) };
}
