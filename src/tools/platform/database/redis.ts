import type { RedisSocketOptions } from "@redis/client/dist/lib/client/socket.js";
import { messageOf } from "../../../base/errno.js";
import { sizeText } from "../../../base/human.js";
import { ToolError } from "../../../tool/errors.js";
import { decoded } from "./connection-string.js";
import { judgedAddress } from "./judged-address.js";
import type { QueryAnswer, QueryJob, ServerQuery } from "./query-job.js";
import { commandWords, requireCommand, WHOLE_KEYS } from "./redis-commands.js";
import { jsonValue, RowCollector } from "./row-collector.js";
import { tooLate } from "./time-limit.js";

const PORT = 6379;
/** What one answer may take in memory, here and at the server: it comes whole. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_KEYS = 1_000_000;

export async function queryRedis(query: ServerQuery): Promise<QueryAnswer> {
  const { job, server, ctx } = query;
  const words = [...commandWords(job.query), ...paramsOf(job)];
  requireCommand(words, job.readonly);
  if (job.explain) {
    throw new ToolError("Redis has no plans to explain.", {
      code: "invalid_arguments",
      hint: "Leave explain out.",
    });
  }
  const redis = await ctx.load<typeof import("redis")>("redis");
  const { host, port, address } = await judgedAddress(query, PORT);
  const tls = server.url.protocol === "rediss:";
  const number = Number(server.url.pathname.slice(1) || "0");
  const client = redis.createClient({
    socket: {
      host: address,
      port,
      connectTimeout: Math.min(job.timeoutMs, 15_000),
      reconnectStrategy: false,
      ...(tls ? { tls: true as const, servername: host } : {}),
    } as RedisSocketOptions,
    ...(server.url.username !== "" && { username: decoded(server.url.username) }),
    ...(server.password !== undefined && { password: server.password }),
    ...(Number.isInteger(number) && { database: number }),
    RESP: 3,
    disableClientInfo: true,
  });
  client.on("error", () => undefined);
  let reason: ToolError | undefined;
  const end = (why: ToolError) => {
    reason ??= why;
    if (client.isOpen) client.destroy();
  };
  const stop = () => end(new ToolError("The query was cancelled.", { code: "cancelled" }));
  const clock = setTimeout(() => end(tooLate(job)), job.timeoutMs);
  ctx.signal.addEventListener("abort", stop, { once: true });
  try {
    await client.connect();
    const ask = (command: readonly string[]): Promise<unknown> => client.sendCommand([...command]);
    await requireBounded(words, ask);
    return answerOf(await ask(words), job);
  } catch (error) {
    throw reason ?? redisFailure(error, query);
  } finally {
    clearTimeout(clock);
    ctx.signal.removeEventListener("abort", stop);
    if (client.isOpen) client.destroy();
  }
}

function paramsOf({ params }: QueryJob): readonly string[] {
  if (params === undefined) return [];
  if (!Array.isArray(params)) {
    throw new ToolError("Redis takes params as a list; they follow the command.", {
      code: "invalid_arguments",
      hint: 'Like query "SET" with params ["my key", "a value"].',
    });
  }
  return params.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
}

/** An answer comes whole: how large it would be is asked before. */
async function requireBounded(
  words: readonly string[],
  ask: (command: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const [name = "", key] = words;
  if (name.toUpperCase() === "KEYS" && Number(await ask(["DBSIZE"])) > MAX_KEYS) {
    throw new ToolError(
      `The database holds more than ${MAX_KEYS} keys; KEYS would stop the server for a while.`,
      {
        hint: "Use SCAN 0 MATCH pattern COUNT 1000, and go on with the cursor it gives.",
      },
    );
  }
  if (!WHOLE_KEYS.has(name.toUpperCase()) || key === undefined) return;
  const bytes = Number((await ask(["MEMORY", "USAGE", key]).catch(() => 0)) ?? 0);
  if (bytes <= MAX_ANSWER_BYTES) return;
  throw new ToolError(
    `${JSON.stringify(key)} takes ${sizeText(bytes, "decimal")}, more than is read at once.`,
    {
      hint: "Read a part: GETRANGE, HSCAN, SSCAN, ZSCAN, or LRANGE after LTRIM on a copy.",
    },
  );
}

/** A list gives a row for each value, a map one for each field, anything else a single row. */
function answerOf(reply: unknown, job: QueryJob): QueryAnswer {
  const rows = new RowCollector(job);
  if (Array.isArray(reply)) {
    rows.setColumns(["value"]);
    for (const value of reply) if (!rows.add([plain(value)])) break;
  } else if (
    reply instanceof Map ||
    (typeof reply === "object" && reply !== null && !(reply instanceof Uint8Array))
  ) {
    rows.setColumns(["field", "value"]);
    const entries = reply instanceof Map ? [...reply.entries()] : Object.entries(reply);
    for (const [field, value] of entries) if (!rows.add([String(field), plain(value)])) break;
  } else {
    rows.setColumns(["value"]);
    rows.add([plain(reply)]);
  }
  return rows.answer();
}

function plain(value: unknown): unknown {
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([name, one]) => [String(name), plain(one)]));
  if (value instanceof Set) return [...value].map(plain);
  if (Array.isArray(value)) return value.map(plain);
  return jsonValue(value);
}

function redisFailure(error: unknown, { server }: ServerQuery): ToolError {
  if (ToolError.isInstance(error)) return error;
  const message = messageOf(error);
  const hint = /WRONGPASS|NOAUTH/.test(message)
    ? "Check user and password of the connection string: redis://user:password@host/0."
    : /WRONGTYPE/.test(message)
      ? "TYPE key tells what the key holds, and so which commands fit."
      : "Correct the command, or check that the server is up and the address is right.";
  return new ToolError(`Redis: ${message.replace(/\.$/, "")}.`, { hint, from: server.shown });
}
