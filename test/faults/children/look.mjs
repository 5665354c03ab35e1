// Starts a runtime on one home after another and says what it finds there.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { options, say } from "./session.mjs";

const { createRuntime, createLogger, ToolRegistry } = await import(
  pathToFileURL(join(options.dist, "index.js")).href
);
for (const home of options.homes) {
  const logged = [];
  try {
    const runtime = await createRuntime({
      home,
      cwd: join(home, "work"),
      systemDir: join(home, "system"),
      userTools: false,
      registry: new ToolRegistry(),
      logger: createLogger({ level: "warn", sink: (line) => void logged.push(line) }),
    });
    const session = await runtime.openSession({});
    const call = async (name, args) => {
      const { ok, error, structured } = await session.call({ name, arguments: args });
      if (!ok) throw new Error(`${name}: ${error?.message}`);
      return structured;
    };
    const journal = await runtime.journal();
    const rows = await journal.recent({ limit: 100_000, sessionId: options.session });
    const { jobs = [] } = await call("cronjob", { action: "list" });
    await call("write_file", { path: "after.txt", content: "after" });
    const files = readdirSync(join(home, "work")).filter((name) => /^file-\d+\.txt$/.test(name));
    say({
      home,
      logged,
      notices: runtime.notices ?? [],
      rows: rows.map(({ call_id, status, damaged }) => ({ id: call_id, status, damaged })),
      jobs: jobs.map(({ name }) => name),
      files: files.map((name) => [
        ...new Set(
          readFileSync(join(home, "work", name), "utf8")
            .trimEnd()
            .split("\n"),
        ),
      ]),
    });
    await runtime.close();
  } catch (error) {
    say({ home, logged, failed: String(error) });
  }
}
process.exit();
