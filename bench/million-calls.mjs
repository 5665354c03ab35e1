// A journal of a million made-up calls, as the path would have written them: for measuring what reads it.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const TOOLS = ["read_file", "write_file", "terminal", "search_files", "web_fetch", "patch", "python", "todo"];

/** Fills the journal of a Hermes home; the calls lie in the last 30 days. */
export async function fillJournal({ dist, home, calls = 1_000_000 }) {
  const { createRuntime } = await import(pathToFileURL(join(dist, "index.js")).href);
  const runtime = await createRuntime({
    home,
    cwd: home,
    systemDir: join(home, "system"),
    builtins: false,
    userTools: false,
  });
  await runtime.journal();
  await runtime.close();
  const { DatabaseSync } = sqlite(dist);
  const db = new DatabaseSync(join(home, "state.db"));
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  const random = seeded(7);
  const now = Date.now();
  const insert = db.prepare(
    "INSERT INTO calls (owner, written_at, running, detail) VALUES ('bench', ?, 0, ?)",
  );
  db.exec("BEGIN");
  for (let number = 0; number < calls; number += 1) {
    const at = Math.round(now - ((calls - number) / calls) * 30 * 86_400_000);
    insert.run(at, JSON.stringify(madeUp({ number, at, random })));
  }
  db.exec("COMMIT");
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

function madeUp({ number, at, random }) {
  const tool = TOOLS[Math.floor(random() ** 2 * TOOLS.length)];
  const luck = random();
  const status = luck < 0.93 ? "ok" : luck < 0.97 ? "error" : luck < 0.99 ? "denied" : "timeout";
  return {
    call_id: `call_${number.toString(36)}`,
    session_id: `s_${Math.floor(number / 50).toString(36)}`,
    tool,
    called_as: tool,
    door: number % 3 === 0 ? "http" : "agent",
    args: JSON.stringify({
      path: `/srv/project/src/file-${number % 5000}.ts`,
      offset: number % 900,
      limit: 200,
    }),
    effects: JSON.stringify([
      { action: "file:read", resource: `/srv/project/src/file-${number % 5000}.ts`, mode: "read" },
    ]),
    decision: "allow",
    rule: "profile:default",
    environment: number % 10 === 0 ? "docker" : "local",
    started_at: at,
    toolset: "files",
    model: number % 2 === 0 ? "model-a" : "model-b",
    crc: 0,
    outcome: {
      status,
      state: "done",
      duration_ms: Math.round(-Math.log(1 - random()) * 40_000) / 1000,
      result_chars: Math.floor(random() * 4000),
      result_hash: "0".repeat(64),
      truncated: false,
      ...(status !== "ok" && {
        error_code: status === "error" ? "failed" : status,
        error_message: "no such file",
      }),
      crc: 0,
    },
  };
}

function sqlite(dist) {
  const require = createRequire(join(dist, "index.js"));
  try {
    return require("node:sqlite");
  } catch {
    return require("@photostructure/sqlite");
  }
}

/** The same numbers every time. */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
