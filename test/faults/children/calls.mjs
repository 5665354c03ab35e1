// A runtime that makes the calls it is told to, one line each, and says how each ended.
import { createInterface } from "node:readline";
import { openSession, options, say } from "./session.mjs";

const { runtime, session, logged } = await openSession();
say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const { name, args } = JSON.parse(line);
  const { ok, error, structured, notices } = await session.call({ name, arguments: args });
  // What it holds on to, not what it has not yet thrown away.
  if (options.collects === true) globalThis.gc?.();
  say({ ok, error: error?.message, structured, notices, logged: logged.splice(0) });
}
await runtime.close();
