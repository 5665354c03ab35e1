// What the journal of a home says of its calls, one line each.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { dist, home } = JSON.parse(process.argv[2]);
const { createRuntime } = await import(pathToFileURL(join(dist, "index.js")).href);
const runtime = await createRuntime({ home, cwd: home, systemDir: join(home, "system"), userTools: false });
const journal = await runtime.journal();
const rows = await journal.recent({ limit: 1_000_000 });
const lines = rows.map(({ call_id: id, tool, status, state, error_code: code, door }) =>
  JSON.stringify({ id, tool, status, state, code, door }),
);
await new Promise((resolve) => process.stdout.write(lines.map((line) => `${line}\n`).join(""), resolve));
await runtime.close();
process.exit();
