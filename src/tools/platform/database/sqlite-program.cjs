// Runs one query in a process of its own: a query that computes for ever can then be ended, which SQLite inside a
// thread cannot. Gets the job as its first message and answers with one.
process.once("message", (job) => {
  let answer;
  try {
    answer = run(job);
  } catch (error) {
    answer = { error: String(error?.message || error), code: error?.errcode };
  }
  process.send(answer, () => process.exit(0));
});

// Whoever asked is gone.
process.once("disconnect", () => process.exit(0));

function run(job) {
  const { DatabaseSync, constants } = require(job.driver);
  const database = new DatabaseSync(job.file, {
    // What is made for this query alone has to be filled first.
    readOnly: job.readonly && job.file !== ":memory:",
    timeout: job.busyMs,
    limits: { length: job.maxValueBytes },
  });
  try {
    if (job.tables !== undefined) fill(database, job.tables);
    if (job.readonly) database.exec("PRAGMA query_only = ON");
    // Other files are other databases: nobody was asked about them. The nameless one is what VACUUM copies through.
    database.setAuthorizer((action, name) =>
      action === constants.SQLITE_ATTACH && name !== "" && name !== ":memory:"
        ? constants.SQLITE_DENY
        : constants.SQLITE_OK,
    );
    let rest = job.explain ? `EXPLAIN QUERY PLAN ${job.query}` : job.query;
    let answer;
    let changed = 0;
    for (let number = 1; answer === undefined || !isBlank(rest); number += 1) {
      try {
        const statement = database.prepare(rest);
        const text = job.params === undefined ? statement.expandedSQL : undefined;
        rest = text !== undefined && rest.startsWith(text) ? rest.slice(text.length) : "";
        answer = runStatement(statement, job);
        changed += answer.changed || 0;
      } catch (error) {
        if (number > 1) error.message += ` (in statement ${number}; those before it were done)`;
        throw error;
      }
    }
    return { ...answer, changed: answer.changed === undefined && changed === 0 ? undefined : changed };
  } finally {
    database.close();
  }
}

// Sheets as tables; the chosen one is also there under the name that queries are usually written with.
function fill(database, tables) {
  const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
  for (const { name, columns, rows, chosen } of tables) {
    if (columns.length === 0) continue;
    database.exec(`CREATE TABLE ${quoted(name)} (${columns.map(quoted).join(", ")})`);
    const insert = database.prepare(
      `INSERT INTO ${quoted(name)} VALUES (${columns.map(() => "?").join(", ")})`,
    );
    database.exec("BEGIN");
    for (const row of rows) insert.run(...row);
    database.exec("COMMIT");
    const taken = tables.some((table) => table.name.toLowerCase() === "data");
    if (chosen && !taken) database.exec(`CREATE VIEW data AS SELECT * FROM ${quoted(name)}`);
  }
}

function isBlank(sql) {
  return sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|[\s;]/g, "") === "";
}

function runStatement(statement, job) {
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const values = job.params === undefined ? [] : Array.isArray(job.params) ? job.params : [job.params];
  const columns = statement.columns().map(({ name }) => name);
  if (columns.length === 0) {
    const { changes } = statement.run(...values);
    return { columns, rows: [], changed: Number(changes) };
  }
  const rows = [];
  let bytes = 0;
  let more = false;
  for (const row of statement.iterate(...values)) {
    // One row beyond the limit shows that there is more.
    if (rows.length > job.maxRows || bytes > job.maxBytes) {
      more = true;
      break;
    }
    const sent = row.map((value) => portable(value, job.maxValueChars));
    for (const value of sent) bytes += typeof value === "string" ? value.length + 4 : 8;
    rows.push(sent);
  }
  return { columns, rows, more };
}

// What JSON between two processes can carry.
function portable(value, maxChars) {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (value instanceof Uint8Array) {
    const shown = value.length > maxChars ? value.subarray(0, maxChars) : value;
    return `base64:${Buffer.from(shown).toString("base64")}`;
  }
  return value;
}
