import { Client, type types } from "pg";
import { messageOf } from "../../../base/errno.js";
import { ToolError } from "../../../tool/errors.js";
import { decoded, hostOf } from "./connection-string.js";
import { PieceQuery } from "./postgres-pieces.js";
import { parserOf } from "./postgres-values.js";
import type { QueryAnswer, QueryJob, ServerQuery } from "./query-job.js";
import { RowCollector } from "./row-collector.js";
import { openServer, type ServerConnection } from "./server-connection.js";
import { tooLate } from "./time-limit.js";

const PORT = 5432;
/** Rows are asked for in pieces of about this size: what is not asked for never leaves the server. */
const PIECE_BYTES = 1024 * 1024;
const FIRST_PIECE_ROWS = 20;
const MAX_PIECE_ROWS = 2_000;

export async function queryPostgres(query: ServerQuery): Promise<QueryAnswer> {
  const { server } = query;
  const connection = await openServer(query, PORT);
  const mode = server.url.searchParams.get("sslmode") ?? (isThisMachine(connection) ? "disable" : "prefer");
  try {
    return await runOn({ connection, query, ssl: sslFor(mode) });
  } catch (error) {
    const noTls = mode === "prefer" && messageOf(error) === "The server does not support SSL connections";
    if (!noTls) throw connection.ended() ?? postgresFailure(error, query);
  } finally {
    connection.close();
  }
  // As the server's own client does when nobody has asked for encryption.
  const plain = await openServer(query, PORT);
  try {
    return await runOn({ connection: plain, query, ssl: false });
  } catch (error) {
    throw plain.ended() ?? postgresFailure(error, query);
  } finally {
    plain.close();
  }
}

interface Run {
  readonly connection: ServerConnection;
  readonly query: ServerQuery;
  readonly ssl: ReturnType<typeof sslFor>;
}

async function runOn({ connection, query, ssl }: Run): Promise<QueryAnswer> {
  const { job, server } = query;
  const { socket } = connection;
  // It is open already; the driver is told so when it wants to open it.
  socket.connect = () => {
    process.nextTick(() => socket.emit("connect"));
    return socket;
  };
  const client = new Client({
    stream: () => socket,
    host: hostOf(server.url),
    port: connection.port,
    user: server.url.username === "" ? "postgres" : decoded(server.url.username),
    // As a text that is empty, the driver would take the one of this process's own variables instead.
    password: () => server.password ?? "",
    database: decoded(server.url.pathname.slice(1)) || decoded(server.url.username) || "postgres",
    ssl,
    application_name: "hermes",
    statement_timeout: job.timeoutMs,
    options: `-c DateStyle=ISO${job.readonly ? " -c default_transaction_read_only=on" : ""}`,
    types: { getTypeParser: parserOf as typeof types.getTypeParser },
  });
  let lost: unknown;
  client.on("error", (error) => {
    lost = error;
  });
  try {
    await client.connect();
    // A query whose connection is closed goes on at the server unless it looks. Servers before 14 do not know this.
    await client.query("SET client_connection_check_interval = '300ms'").catch(() => undefined);
    const note = job.readonly ? await beginReading(client, job) : undefined;
    return { ...(await fetchRows(client, job)), note };
  } catch (error) {
    throw lost ?? error;
  }
}

interface Account {
  readonly superuser: boolean;
  /** May run programs or write files of the server's machine, which a read-only transaction does not prevent. */
  readonly powerful: boolean;
  /** There is a role that may only read (PostgreSQL 14 and later). */
  readonly reader: boolean;
}

/**
 * The query before the caller's one sets a snapshot, after which the server lets nobody make the transaction writable
 * again. Programs and files of the server's machine (COPY … TO PROGRAM) are no part of any transaction: of accounts that
 * reach them only plain queries are taken, and a superuser reads as somebody who may only read.
 */
async function beginReading(client: Client, job: QueryJob): Promise<string | undefined> {
  await client.query("BEGIN READ ONLY");
  const { rows } = await client.query<Account>(
    `SELECT current_setting('is_superuser') = 'on' AS superuser,
      EXISTS (SELECT FROM pg_catalog.pg_roles WHERE pg_catalog.pg_has_role(session_user, oid, 'MEMBER')
        AND rolname IN ('pg_execute_server_program', 'pg_write_server_files')) AS powerful,
      EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'pg_read_all_data') AS reader`,
  );
  const [account] = rows;
  if (account === undefined || !(account.superuser || account.powerful)) return undefined;
  if (account.superuser && account.reader) await client.query("SET LOCAL ROLE pg_read_all_data");
  await refuseOtherThanQueries(client, job);
  if (!account.superuser) return undefined;
  const rights = account.reader ? "; the query ran with the rights of pg_read_all_data" : "";
  return `The account is a superuser${rights}. Give this database an account that may only read.`;
}

/** No other statement begins with these, and none of them does anything besides what a query does. */
const SHOWS = /^\s*(?:EXPLAIN|SHOW)\b/i;

/**
 * A block of code (DO) could take the superuser's rights back, and COPY runs programs. The server's own grammar tells
 * them from queries: PREPARE takes SELECT, VALUES, INSERT, UPDATE, DELETE and MERGE, runs nothing, and the extended
 * protocol takes no second statement behind it.
 */
async function refuseOtherThanQueries(client: Client, job: QueryJob): Promise<void> {
  if (job.explain || SHOWS.test(job.query)) return;
  const prepare = { text: `PREPARE hermes_query AS ${job.query}`, queryMode: "extended" };
  try {
    await client.query(prepare);
  } catch (error) {
    if (codeOf(error) !== SYNTAX_ERROR) throw error;
    throw new ToolError(
      "The account may run programs and write files of the server, which a read-only transaction does not prevent: " +
        `only SELECT, VALUES, EXPLAIN and SHOW are read-only with it. PostgreSQL: ${messageOf(error)}.`,
      {
        hint: "Correct the query, or use an account that may only read. With readonly: false a person is asked to allow it.",
        details: { sqlstate: SYNTAX_ERROR },
      },
    );
  }
}

async function fetchRows(client: Client, job: QueryJob): Promise<QueryAnswer> {
  const rows = new RowCollector(job);
  if (job.params !== undefined && !Array.isArray(job.params)) {
    throw new ToolError("PostgreSQL takes params as a list, for $1, $2 …", {
      code: "invalid_arguments",
      hint: 'Write the query with $1, $2 … and params like ["Ada", 3].',
    });
  }
  const changed = await new Promise<number | undefined>((resolve, reject) => {
    const query = new PieceQuery({
      text: job.explain ? `EXPLAIN ${job.query}` : job.query,
      values: (job.params ?? []) as readonly unknown[],
      firstPiece: Math.min(FIRST_PIECE_ROWS, job.maxRows + 1),
      nextPiece: () => {
        if (rows.full) return 0;
        const perRow = Math.max(1, rows.bytes / Math.max(1, rows.count));
        return Math.min(
          MAX_PIECE_ROWS,
          Math.max(1, Math.floor(PIECE_BYTES / perRow)),
          job.maxRows + 1 - rows.count,
        );
      },
      onColumns: (names) => rows.setColumns(names),
      onRow: (values) => void rows.add(values),
      done: (error, count) => (error === undefined ? resolve(count) : reject(error)),
    });
    client.query(query);
  });
  return rows.answer({ changed });
}

function isThisMachine({ socket }: ServerConnection): boolean {
  return (
    socket.remoteAddress === "::1" ||
    socket.remoteAddress?.replace(/^::ffff:/, "").startsWith("127.") === true
  );
}

/** The words of libpq: only the last two say who the server must be. */
function sslFor(mode: string): false | { readonly rejectUnauthorized: boolean } {
  if (mode === "disable" || mode === "allow") return false;
  return { rejectUnauthorized: mode === "verify-ca" || mode === "verify-full" };
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

const SYNTAX_ERROR = "42601";
const READ_ONLY_TRANSACTION = "25006";
const INSUFFICIENT_PRIVILEGE = "42501";
const QUERY_CANCELED = "57014";

function postgresFailure(error: unknown, { job, server }: ServerQuery): ToolError {
  if (ToolError.isInstance(error)) return error;
  const code = codeOf(error);
  const message = messageOf(error);
  if (code === QUERY_CANCELED && /timeout/.test(message)) return tooLate(job);
  const position =
    typeof error === "object" && error !== null && "position" in error ? Number(error.position) : 0;
  const where = position > 0 ? ` (at character ${position})` : "";
  return new ToolError(`PostgreSQL: ${message}${where}.`, {
    hint: hintFor({ code, message, job }),
    details: code === "" ? undefined : { sqlstate: code },
    from: server.shown,
  });
}

function hintFor({ code, message, job }: { code: string; message: string; job: QueryJob }): string {
  if (code === READ_ONLY_TRANSACTION)
    return "The query would change the database. With readonly: false a person is asked to allow it.";
  if (code === INSUFFICIENT_PRIVILEGE && job.readonly)
    return "The account may not do that, or not in a read-only query; readonly: false asks a person.";
  if (code.startsWith("28")) return "Check user and password of the connection string.";
  if (code === "3D000") return "Check the name of the database: it stands behind the host.";
  if (/multiple commands/.test(message)) return "Send one statement per call.";
  if (code.startsWith("42"))
    return "Correct the query. SELECT table_name, column_name FROM information_schema.columns shows what there is.";
  return "Check that the server is up and the address is right, then the query.";
}
