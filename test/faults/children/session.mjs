// A runtime with one session: the common part of the processes that fault tests start.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const options = JSON.parse(process.argv[2]);

export async function openSession() {
  const { createRuntime } = await import(pathToFileURL(join(options.dist, "index.js")).href);
  const cwd = join(options.home, "work");
  mkdirSync(cwd, { recursive: true });
  const runtime = await createRuntime({
    home: options.home,
    cwd,
    systemDir: join(options.home, "system"),
    userTools: false,
  });
  const session = await runtime.openSession({});
  const call = async (name, args) => {
    const result = await session.call({ name, arguments: args });
    if (!result.ok) throw new Error(`${name} ${JSON.stringify(args)}: ${JSON.stringify(result.error)}`);
    return result.structured;
  };
  return { runtime, session, call };
}

export function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** When the other side closes its end, this process closes in order. */
export function closeAtEnd(runtime) {
  process.stdin.on("end", async () => {
    await runtime.close();
    process.exit();
  });
  process.stdin.resume();
}
