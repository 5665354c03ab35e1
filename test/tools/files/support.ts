import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SessionState } from "../../../src/call/session-state.js";
import { createLocalEnvironment } from "../../../src/env/local/local.js";
import { ToolError } from "../../../src/tool/errors.js";
import type { AnyTool, CallContext } from "../../../src/tool/tool.js";
import { makeContext, type TestContext } from "../context.js";

export interface FileTestContext extends TestContext {
  readonly home: string;
  write(path: string, content: string | Uint8Array): string;
  read(path: string): string;
}

/** A real context whose home folder is a temporary one, so that protected places can be tried safely. */
export function makeFileContext(changes: Partial<Omit<CallContext, "environment">> = {}): FileTestContext {
  let home = "";
  const env = new Proxy(process.env, {
    get: (target, name) => (name === "HOME" ? home : Reflect.get(target, name)),
  });
  const ctx = makeContext({ environment: createLocalEnvironment({ env }), ...changes });
  home = join(ctx.folder, "home");
  mkdirSync(home);
  return Object.assign(ctx, {
    home,
    write(path: string, content: string | Uint8Array): string {
      const absolute = join(ctx.folder, path);
      mkdirSync(dirname(absolute), { recursive: true });
      writeFileSync(absolute, content);
      return absolute;
    },
    read: (path: string) => readFileSync(join(ctx.folder, path), "utf8"),
  });
}

/** The same place seen by a session that has done nothing yet. */
export function inAnotherSession<T extends CallContext>(ctx: T): T {
  const state = new SessionState();
  return { ...ctx, session: { ...ctx.session }, keep: (kind) => state.keep(kind) };
}

export type Fields = Record<string, unknown>;

/** Runs a handler the way decode hands it over: schema defaults filled in. */
export async function call(tool: AnyTool, args: Fields, ctx: CallContext): Promise<Fields> {
  return (await tool.handler(withDefaults(tool, args), ctx)) as Fields;
}

export function withDefaults(tool: AnyTool, args: Fields): Fields {
  const properties = tool.parameters.properties as Record<string, { default?: unknown }>;
  const defaults = Object.entries(properties).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value]],
  );
  return { ...Object.fromEntries(defaults), ...args };
}

/** The failure of a call that must fail. */
export async function failureOf(work: Promise<unknown>): Promise<ToolError> {
  try {
    await work;
  } catch (error) {
    if (ToolError.isInstance(error)) return error;
    throw error;
  }
  throw new Error("expected the call to fail, but it succeeded");
}
