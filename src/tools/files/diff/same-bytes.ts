import { createHash } from "node:crypto";
import type { CallContext } from "../../../tool/tool.js";

/** Whether two files of any size hold the same, without holding either. */
export async function sameBytes(one: string, other: string, ctx: CallContext): Promise<boolean> {
  return (await digest(one, ctx)) === (await digest(other, ctx));
}

async function digest(path: string, ctx: CallContext): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of ctx.environment.files.stream(path)) {
    ctx.signal.throwIfAborted();
    hash.update(piece);
  }
  return hash.digest("hex");
}
