// A runtime with one session: the common part of the processes that fault tests start.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const options = JSON.parse(process.argv[2]);

export async function openSession({ tools = [] } = {}) {
  const { createRuntime, createLogger, registry } = await import(
    pathToFileURL(join(options.dist, "index.js")).href
  );
  const cwd = join(options.home, "work");
  mkdirSync(cwd, { recursive: true });
  const logged = [];
  const runtime = await createRuntime({
    home: options.home,
    cwd,
    systemDir: join(options.home, "system"),
    userTools: options.userTools === true,
    logger: createLogger({ level: "warn", sink: (line) => void logged.push(line) }),
  });
  for (const tool of tools) (runtime.registry ?? registry).register(tool);
  const session = await runtime.openSession({});
  const call = async (name, args, id) => {
    const result = await session.call({ name, arguments: args, ...(id !== undefined && { id }) });
    if (!result.ok) throw new Error(`${name} ${JSON.stringify(args)}: ${JSON.stringify(result.error)}`);
    return result.structured;
  };
  return { runtime, session, call, logged };
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
