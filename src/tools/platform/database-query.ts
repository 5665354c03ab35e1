import { tookText } from "../../base/human.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect, EffectScope } from "../../tool/effects.js";
import { columns as inColumns, mark } from "../../tool/marked-text.js";
import { absolutePath } from "../files/paths.js";
import {
  type Named,
  passwordsIn,
  readConnectionString,
  resolveTarget,
  shownAddress,
  type Target,
} from "./database/connection-string.js";
import type { Query, QueryAnswer, QueryJob } from "./database/query-job.js";
import { shownRows } from "./shown-rows.js";

const MAX_ROWS = 10_000;
/** Of rows as JSON. A larger result belongs into a file or a narrower query. */
const MAX_BYTES = 4 * 1024 * 1024;
const SHOWN_ROWS = 50;
const SHOWN_CHARS = 60;
const TEXT_CHARS = 4_000;

interface DatabaseOutput {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly row_count: number;
  readonly columns: readonly string[];
  readonly truncated: boolean;
  readonly truncated_by?: string | undefined;
  readonly cut_values?: number | undefined;
  readonly changed_rows?: number | undefined;
  readonly note?: string | undefined;
  readonly query_time_ms: number;
  readonly dialect: string;
  readonly database: string;
}

export default defineTool({
  name: "database_query",
  toolset: "database",
  emoji: "🗄️",
  description:
    "Run one query on PostgreSQL, MySQL/MariaDB, SQLite, MongoDB or Redis. Only reads (the server enforces it) unless " +
    "readonly is false, which a person is asked about.",
  parameters: {
    type: "object",
    properties: {
      connection_string: {
        type: "string",
        minLength: 1,
        description:
          "sqlite:FILE, postgres:// mysql:// mongodb:// redis:// URL, or the name of a configured database",
      },
      query: {
        type: "string",
        minLength: 1,
        description: 'SQL; MongoDB: a command as JSON ({"find":"users","filter":{}}); Redis: a command line',
      },
      params: {
        type: ["array", "object"],
        description: "Values for $1 (PostgreSQL) or ? placeholders; an object for named ones (SQLite)",
      },
      max_rows: { type: "integer", minimum: 1, maximum: MAX_ROWS, default: 1000 },
      readonly: { type: "boolean", default: true },
      explain: { type: "boolean", default: false, description: "Show the plan instead of running it" },
      timeout: { type: "number", minimum: 1, maximum: 600, default: 30, description: "Seconds" },
    },
    required: ["connection_string", "query"],
    additionalProperties: false,
  },
  permissions: ["database:read", "database:write", "file:read", "file:write"],
  everyCallNeeds: ["database:read"],
  effects: (args, scope) => effectsOf(args, scope),
  secretsIn: ({ connection_string }) => passwordsIn(connection_string),
  timeoutMs: ({ timeout }) => timeout * 1000 + 20_000,

  async handler(args, ctx): Promise<DatabaseOutput> {
    const target = resolveTarget(args.connection_string, ctx);
    const job: QueryJob = {
      query: args.query,
      params: args.params as QueryJob["params"],
      maxRows: args.max_rows,
      maxBytes: MAX_BYTES,
      readonly: args.readonly,
      explain: args.explain,
      timeoutMs: args.timeout * 1000,
    };
    const started = performance.now();
    const answer = await run(target, { job, ctx });
    return {
      rows: answer.rows,
      row_count: answer.rows.length,
      columns: answer.columns,
      truncated: answer.truncated,
      ...(answer.cutBy !== undefined && { truncated_by: limitText(answer.cutBy, args.max_rows) }),
      ...(answer.cutValues > 0 && { cut_values: answer.cutValues }),
      ...(answer.changed !== undefined && { changed_rows: answer.changed }),
      ...(answer.note !== undefined && { note: answer.note }),
      query_time_ms: Math.round(performance.now() - started),
      dialect: target.dialect,
      database: target.dialect === "sqlite" ? target.file : target.server.shown,
    };
  },

  // A file of the working folder is what read_file would show; what a server holds, others have written.
  untrustedSource: (_args, { dialect, database }) => (dialect === "sqlite" ? undefined : database),

  present: (out) => ({ model: [text(modelText(out))], human: humanText(out) }),

  examples: [
    {
      title: "Make a small database, which a person has to allow, and ask it",
      before: [
        {
          name: "database_query",
          arguments: {
            connection_string: "sqlite:shop.db",
            query:
              "CREATE TABLE fruit (name TEXT, price REAL); INSERT INTO fruit VALUES ('apple', 0.4), ('melon', 2.5)",
            readonly: false,
          },
        },
      ],
      arguments: {
        connection_string: "sqlite:shop.db",
        query: "SELECT name, price FROM fruit WHERE price > ?",
        params: [1],
      },
      result: {
        rows: [{ name: "melon", price: 2.5 }],
        row_count: 1,
        columns: ["name", "price"],
        truncated: false,
      },
    },
  ],
});

function effectsOf(
  { connection_string, readonly }: { readonly connection_string: string; readonly readonly: boolean },
  scope: EffectScope,
): readonly Effect[] {
  const named = readable(connection_string);
  const resource =
    named === undefined
      ? "unknown"
      : named.kind === "file"
        ? `sqlite:${named.file}`
        : named.kind === "server"
          ? shownAddress(named.url)
          : `database:${named.name}`;
  const reading: Effect = { action: "database:read", resource, mode: "read" };
  const file: readonly Effect[] =
    named?.kind === "file" && named.file !== ":memory:" && named.file !== ""
      ? [
          {
            action: readonly ? "file:read" : "file:write",
            resource: absolutePath(named.file, scope),
            mode: readonly ? "read" : "write",
            ...(!readonly && { reversible: false, shown: true }),
          },
        ]
      : [];
  if (readonly) return [reading, ...file];
  const reason = `the query may change the database ${resource}`;
  return [
    reading,
    {
      action: "database:write",
      resource,
      mode: "write",
      reversible: false,
      ask: { reason, key: `database:write ${resource}` },
    },
    ...file,
  ];
}

/** What cannot be read touches nothing: the handler says what is wrong with it. */
function readable(connectionString: string): Named | undefined {
  try {
    return readConnectionString(connectionString);
  } catch {
    return undefined;
  }
}

async function run(target: Target, query: Query): Promise<QueryAnswer> {
  if (target.dialect === "sqlite") {
    const { querySqlite } = await import("./database/sqlite.js");
    return querySqlite({ ...query, file: target.file, configured: target.configured });
  }
  const asked = { ...query, server: target.server };
  switch (target.dialect) {
    case "postgresql":
      return (await import("./database/postgres.js")).queryPostgres(asked);
    case "mysql":
      return (await import("./database/mysql.js")).queryMysql(asked);
    case "mongodb":
      return (await import("./database/mongodb.js")).queryMongodb(asked);
    case "redis":
      return (await import("./database/redis.js")).queryRedis(asked);
  }
}

function limitText(by: "rows" | "bytes", maxRows: number): string {
  return by === "rows"
    ? `max_rows (${maxRows}): raise it up to ${MAX_ROWS}, or narrow the query`
    : `size (${MAX_BYTES / 1024 / 1024} MB): ask for fewer columns or rows`;
}

function modelText(out: DatabaseOutput): string {
  const { rows, leftOut } = shownRows(out.rows);
  const more = `Only ${rows.length} of ${out.row_count} rows are shown here: narrow the query, or go on with LIMIT and OFFSET.`;
  return JSON.stringify({ ...out, rows, ...(leftOut > 0 && { left_out: more }) });
}

function humanText(out: DatabaseOutput): string {
  const shown = out.rows.slice(0, SHOWN_ROWS);
  // A plan or a report is one column of text, and its line ends and indents matter.
  const isText = out.columns.length === 1;
  const chars = isText ? TEXT_CHARS : SHOWN_CHARS;
  const cell = (value: unknown) => {
    const words = typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
    const line = isText ? words : words.replace(/\s+/g, " ");
    return line.length > chars ? `${line.slice(0, chars - 1)}…` : line;
  };
  const table =
    out.columns.length === 0
      ? ""
      : isText
        ? [mark.heading(out.columns[0] ?? ""), ...shown.map((row) => cell(row[out.columns[0] ?? ""]))].join(
            "\n",
          )
        : inColumns([
            out.columns.map((name) => mark.heading(name)),
            ...shown.map((row) => out.columns.map((name) => cell(row[name]))),
          ]);
  const counts = [
    out.changed_rows === undefined
      ? `${out.row_count} row${out.row_count === 1 ? "" : "s"}`
      : `${out.changed_rows} changed`,
    shown.length < out.row_count ? `${shown.length} shown` : "",
    out.truncated ? "there are more" : "",
    tookText(out.query_time_ms),
  ].filter((part) => part !== "");
  return [table, mark.dim(counts.join(", ")), out.note === undefined ? "" : mark.warning(out.note)]
    .filter((line) => line !== "")
    .join("\n");
}
