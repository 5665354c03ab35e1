import { homedir } from "node:os";
import { resolve } from "node:path";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";

/**
 * Where a path argument points, without touching the disk: `~` expanded, relative names joined to the
 * scope's working directory. Effects use it; handlers ask the environment, which knows its own home.
 */
export function absolutePath(path: string, scope: { readonly cwd: string; readonly home?: string }): string {
  const home = scope.home ?? homedir();
  if (path === "~") return home;
  if (path.startsWith("~/")) return resolve(home, path.slice(2));
  return resolve(scope.cwd, path);
}

export interface Location {
  /** Absolute, as the caller named it. */
  readonly path: string;
  /** The same with every symbolic link followed. */
  readonly real: string;
}

export async function locate(path: string, ctx: CallContext): Promise<Location> {
  if (path.trim() === "") {
    throw new ToolError("The path is empty.", {
      code: "invalid_arguments",
      hint: "Give a file path, absolute or relative to the working directory.",
    });
  }
  if (path.includes("\0")) {
    throw new ToolError("The path holds a NUL character, which no file name can.", {
      code: "invalid_arguments",
      hint: "Send the path as plain text.",
    });
  }
  const absolute = ctx.environment.files.resolve(path, ctx.session.cwd);
  return { path: absolute, real: await ctx.environment.files.realpath(absolute) };
}
