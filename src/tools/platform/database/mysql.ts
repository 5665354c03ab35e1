import type { Socket } from "node:net";
import type { Connection, ConnectionOptions, FieldPacket, QueryError, ResultSetHeader } from "mysql2";
import { messageOf } from "../../../base/errno.js";
import { ToolError } from "../../../tool/errors.js";
import { decoded, hostOf } from "./connection-string.js";
import type { QueryAnswer, QueryJob, ServerQuery } from "./query-job.js";
import { RowCollector } from "./row-collector.js";
import { openServer } from "./server-connection.js";
import { tooLate } from "./time-limit.js";

const PORT = 3306;
const STOP_MS = 2_000;

export async function queryMysql(query: ServerQuery): Promise<QueryAnswer> {
  const { job, server, ctx } = query;
  if (job.params !== undefined && !Array.isArray(job.params)) {
    throw new ToolError("MySQL takes params as a list, for the ? of the query.", {
      code: "invalid_arguments",
      hint: 'Write ? in the query and params like ["Ada", 3].',
    });
  }
  const mysql = await ctx.load<typeof import("mysql2")>("mysql2");
  const opened = await openServer(query, PORT);
  const mode = (
    server.url.searchParams.get("ssl-mode") ??
    server.url.searchParams.get("sslmode") ??
    ""
  ).toLowerCase();
  const options: ConnectionOptions = {
    stream: opened.socket,
    user: server.url.username === "" ? "root" : decoded(server.url.username),
    password: server.password ?? "",
    database: decoded(server.url.pathname.slice(1)) || undefined,
    ...(mode !== "" &&
      mode !== "disabled" &&
      mode !== "disable" && { ssl: { rejectUnauthorized: /verify/.test(mode) } }),
    // A second statement behind the first could end the read-only transaction.
    multipleStatements: false,
    // The server may otherwise ask for files of this machine.
    flags: ["-LOCAL_FILES"],
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: false,
    rowsAsArray: true,
  } as ConnectionOptions;
  const connection = mysql.createConnection(options);
  const kill = (stream: Socket) =>
    killQuery(mysql.createConnection({ ...options, stream }), connection.threadId);
  // The failure of a lost connection also reaches whoever waits; nobody listening would end the process.
  connection.on("error", () => undefined);
  try {
    return await Promise.race([
      prepare(connection, job).then(() => fetchRows(connection, job)),
      // The driver tells nobody who waits that the connection is gone.
      closed(opened.socket),
    ]);
  } catch (error) {
    if (ctx.signal.aborted || opened.ended() !== undefined) await stopAtServer(query, kill);
    throw opened.ended() ?? mysqlFailure(error, query);
  } finally {
    connection.destroy();
    opened.close();
  }
}

function closed(socket: Socket): Promise<never> {
  const gone = new Promise<never>((_resolve, reject) => {
    socket.once("close", () => reject(new Error("the connection was closed")));
  });
  gone.catch(() => undefined);
  return gone;
}

/** A query whose connection is closed goes on at the server until it has something to send: it is ended by its number. */
async function stopAtServer(
  { server, ctx }: ServerQuery,
  kill: (socket: Socket) => Promise<void>,
): Promise<void> {
  const { url, configured } = server;
  const port = url.port === "" ? PORT : Number(url.port);
  try {
    await kill(await ctx.connect({ host: hostOf(url), port, configured, timeoutMs: STOP_MS, toStop: true }));
  } catch {
    // Its own limit of time ends it then.
  }
}

async function killQuery(connection: Connection, thread: number | null): Promise<void> {
  connection.on("error", () => undefined);
  try {
    if (typeof thread === "number") await run(connection, `KILL QUERY ${thread}`);
  } finally {
    connection.destroy();
  }
}

/** The server stops the query itself when its time is over; MySQL and MariaDB have different words for it. */
async function prepare(connection: Connection, job: QueryJob): Promise<void> {
  const limited = await run(connection, `SET SESSION max_statement_time = ${job.timeoutMs / 1000}`).then(
    () => true,
    (error: unknown) => {
      if (isServerError(error)) return false;
      throw error;
    },
  );
  if (!limited) await run(connection, `SET SESSION max_execution_time = ${Math.round(job.timeoutMs)}`);
  if (!job.readonly) return;
  await run(connection, "SET SESSION TRANSACTION READ ONLY");
  await run(connection, "START TRANSACTION READ ONLY");
}

function isServerError(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "sqlState" in error &&
    error.sqlState !== undefined &&
    codeOf(error) === "ER_UNKNOWN_SYSTEM_VARIABLE"
  );
}

function run(connection: Connection, sql: string): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.query(sql, (error: QueryError | null) => (error === null ? resolve() : reject(error)));
  });
}

/** Rows are taken as they come; when there is no room for more, the connection is closed and the server stops. */
function fetchRows(connection: Connection, job: QueryJob): Promise<QueryAnswer> {
  const rows = new RowCollector(job);
  let changed: number | undefined;
  return new Promise((resolve, reject) => {
    const sql = job.explain ? `EXPLAIN ${job.query}` : job.query;
    const params = job.params as readonly unknown[] | undefined;
    const query =
      params === undefined
        ? connection.query({ sql, rowsAsArray: true })
        : connection.execute({ sql, rowsAsArray: true, values: [...params] as never });
    query.on("fields", (fields: readonly FieldPacket[] | undefined) => {
      if (fields !== undefined) rows.setColumns(fields.map(({ name }) => name));
    });
    query.on("result", (row: unknown) => {
      if (!Array.isArray(row)) {
        changed = (row as ResultSetHeader).affectedRows;
      } else if (!rows.add(row)) {
        connection.destroy();
        resolve(rows.answer());
      }
    });
    query.on("error", reject);
    query.on("end", () => resolve(rows.answer({ changed })));
  });
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

function mysqlFailure(error: unknown, { job, server }: ServerQuery): ToolError {
  if (ToolError.isInstance(error)) return error;
  const code = codeOf(error);
  const message = messageOf(error);
  if (
    code === "ER_STATEMENT_TIMEOUT" ||
    code === "ER_QUERY_TIMEOUT" ||
    /max_statement_time|maximum statement execution time/.test(message)
  )
    return tooLate(job);
  return new ToolError(`MySQL: ${message}${message.endsWith(".") ? "" : "."}`, {
    hint: hintFor(code),
    details: code === "" ? undefined : { code },
    from: server.shown,
  });
}

function hintFor(code: string): string {
  if (code === "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION")
    return "The query would change the database. With readonly: false a person is asked to allow it.";
  if (code.startsWith("ER_ACCESS_DENIED")) return "Check user and password of the connection string.";
  if (code === "ER_BAD_DB_ERROR" || code === "ER_NO_DB_ERROR")
    return "Put the name of the database behind the host: mysql://user@host/database.";
  if (code === "ER_PARSE_ERROR") return "Correct the query; only one statement per call.";
  if (code === "ER_NO_SUCH_TABLE" || code === "ER_BAD_FIELD_ERROR")
    return "SHOW TABLES and DESCRIBE name show what there is.";
  return "Check that the server is up and the address is right, then the query.";
}
