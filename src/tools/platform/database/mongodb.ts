import type { Document, MongoClientOptions } from "mongodb";
import { messageOf } from "../../../base/errno.js";
import { ToolError } from "../../../tool/errors.js";
import { decoded } from "./connection-string.js";
import { judgedAddress, pinnedLookup } from "./judged-address.js";
import type { QueryAnswer, QueryJob, ServerQuery } from "./query-job.js";
import { RowCollector } from "./row-collector.js";
import { tooLate } from "./time-limit.js";

const PORT = 27017;
/** Commands that only look. A closed list: MongoDB has no read-only mode for a connection. */
const READING = new Set(
  `find aggregate count distinct explain listCollections listIndexes listDatabases collStats dbStats dataSize ping
  buildInfo hello`.split(/\s+/),
);
const WITH_CURSOR = new Set(["find", "aggregate", "listCollections", "listIndexes"]);
/** Stages that write what was found somewhere. */
const WRITING_STAGES = new Set(["$out", "$merge"]);
/** Of a connection string, what says how to speak to this server; the others name files, proxies and other servers. */
const OPTIONS = new Set(
  "authSource authMechanism tls ssl tlsAllowInvalidCertificates tlsInsecure readPreference retryReads directConnection appName".split(
    " ",
  ),
);
const MECHANISMS = new Set(["DEFAULT", "SCRAM-SHA-1", "SCRAM-SHA-256", "PLAIN"]);

export async function queryMongodb(query: ServerQuery): Promise<QueryAnswer> {
  const { job, server, ctx } = query;
  const mongodb = await ctx.load<typeof import("mongodb")>("mongodb");
  const command = commandOf(job, (text) => mongodb.BSON.EJSON.parse(text) as unknown);
  requireReading(command, job);
  requireOptions(server.url);
  const judged = await judgedAddress(query, PORT);
  const database = decoded(server.url.pathname.slice(1)) || "test";
  const user = decoded(server.url.username);
  const options: MongoClientOptions = {
    ...(user !== "" && { auth: { username: user, password: server.password ?? "" } }),
    // Other members of a set are other servers, which nobody has judged.
    directConnection: true,
    lookup: pinnedLookup(judged) as never,
    maxPoolSize: 1,
    appName: "hermes",
    serverSelectionTimeoutMS: Math.min(job.timeoutMs, 15_000),
    connectTimeoutMS: Math.min(job.timeoutMs, 15_000),
    socketTimeoutMS: job.timeoutMs + 1_000,
    retryWrites: false,
  };
  const host = judged.host.includes(":") ? `[${judged.host}]` : judged.host;
  const client = new mongodb.MongoClient(
    `mongodb://${host}:${judged.port}/${encodeURIComponent(database)}${server.url.search}`,
    options,
  );
  client.on("error", () => undefined);
  let reason: ToolError | undefined;
  const end = (why: ToolError) => {
    reason ??= why;
    void client.close(true).catch(() => undefined);
  };
  const stop = () => end(new ToolError("The query was cancelled.", { code: "cancelled" }));
  const clock = setTimeout(() => end(tooLate(job)), job.timeoutMs + 500);
  ctx.signal.addEventListener("abort", stop, { once: true });
  try {
    const rows = new RowCollector(job);
    const plain = (document: Document) =>
      plainDocument(document, (value) => mongodb.BSON.EJSON.serialize(value as Document));
    const db = client.db(database);
    const [name = ""] = Object.keys(command);
    if (job.explain && name !== "explain") {
      rows.addObject(plain(await db.command({ explain: command, verbosity: "queryPlanner" })));
      return rows.answer();
    }
    if (!WITH_CURSOR.has(name)) {
      const {
        ok: _ok,
        $clusterTime: _time,
        operationTime: _operation,
        ...reply
      } = await db.command({
        ...command,
        ...(READING.has(name) &&
          name !== "ping" &&
          name !== "hello" &&
          name !== "buildInfo" && { maxTimeMS: job.timeoutMs }),
      });
      const values: unknown = reply.values;
      if (name === "distinct" && Array.isArray(values)) {
        for (const value of values) if (!rows.addObject(plain({ value: value as unknown }))) break;
      } else rows.addObject(plain(reply));
      return rows.answer(typeof reply.n === "number" && !READING.has(name) ? { changed: reply.n } : {});
    }
    const batch = Math.min(job.maxRows + 1, 500);
    // The name of the command has to stay its first field.
    const sent: Document = { ...command, maxTimeMS: job.timeoutMs };
    if (name === "find") sent.batchSize ??= batch;
    else if (name !== "listIndexes") sent.cursor ??= { batchSize: batch };
    const cursor = db.runCursorCommand(sent);
    cursor.setBatchSize(batch);
    for await (const document of cursor) if (!rows.addObject(plain(document))) break;
    return rows.answer();
  } catch (error) {
    throw reason ?? mongoFailure(error, query);
  } finally {
    clearTimeout(clock);
    ctx.signal.removeEventListener("abort", stop);
    await client.close(true).catch(() => undefined);
  }
}

function commandOf({ query, params }: QueryJob, parse: (text: string) => unknown): Document {
  if (params !== undefined) {
    throw new ToolError("MongoDB commands take no params.", {
      code: "invalid_arguments",
      hint: "Write the values into the command.",
    });
  }
  try {
    const command = parse(query);
    if (
      typeof command === "object" &&
      command !== null &&
      !Array.isArray(command) &&
      Object.keys(command).length > 0
    )
      return command as Document;
  } catch {
    // Told below.
  }
  throw new ToolError("The query is no MongoDB command as JSON.", {
    code: "invalid_arguments",
    hint: 'Write it like {"find": "users", "filter": {"age": {"$gt": 30}}, "limit": 10} or {"aggregate": "users", "pipeline": [...]}.',
  });
}

function requireReading(command: Document, { readonly }: QueryJob): void {
  if (!readonly) return;
  const [name = ""] = Object.keys(command);
  const asked = "With readonly: false a person is asked to allow it.";
  if (!READING.has(name))
    throw new ToolError(`${name} is not among the commands that only read.`, { hint: asked });
  const inner: unknown = name === "explain" ? command.explain : command;
  const pipeline: unknown =
    typeof inner === "object" && inner !== null && "pipeline" in inner ? inner.pipeline : [];
  const stages = (Array.isArray(pipeline) ? pipeline : []).flatMap((stage: unknown) =>
    typeof stage === "object" && stage !== null ? Object.keys(stage) : [],
  );
  const writing = stages.find((stage) => WRITING_STAGES.has(stage));
  if (writing !== undefined)
    throw new ToolError(`The stage ${writing} writes what it finds.`, { hint: asked });
  if (
    name === "explain" &&
    typeof inner === "object" &&
    inner !== null &&
    !READING.has(Object.keys(inner)[0] ?? "")
  )
    throw new ToolError("Only commands that read are explained.", { hint: asked });
}

function requireOptions(url: URL): void {
  const mechanism = url.searchParams.get("authMechanism");
  const wrong = [...url.searchParams.keys()].find((name) => !OPTIONS.has(name));
  if (wrong === undefined && (mechanism === null || MECHANISMS.has(mechanism))) return;
  throw new ToolError(
    `The option ${wrong ?? `authMechanism=${mechanism}`} of the connection string is not supported here.`,
    {
      code: "invalid_arguments",
      hint: `Known are ${[...OPTIONS].join(", ")}.`,
    },
  );
}

/** Identifiers and dates as people write them, the rest of BSON's own types in their JSON form. */
function plainDocument(document: Document, serialize: (value: unknown) => unknown): Record<string, unknown> {
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (value instanceof Date || value instanceof Uint8Array || typeof value !== "object" || value === null)
      return value;
    if (!("_bsontype" in value))
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
    const type = String(value._bsontype);
    if (type === "ObjectId" || type === "Decimal128" || type === "Long") return String(value);
    return serialize(value);
  };
  return plain(document) as Record<string, unknown>;
}

function mongoFailure(error: unknown, { job, server }: ServerQuery): ToolError {
  if (ToolError.isInstance(error)) return error;
  const code =
    typeof error === "object" && error !== null && "codeName" in error ? String(error.codeName) : "";
  if (code === "MaxTimeMSExpired") return tooLate(job);
  const hint =
    code === "AuthenticationFailed"
      ? "Check user, password and authSource of the connection string."
      : "Correct the command, or check that the server is up and the address is right.";
  return new ToolError(`MongoDB: ${messageOf(error)}.`, {
    hint,
    details: code === "" ? undefined : { code },
    from: server.shown,
  });
}
