import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { BSON } from "mongodb";
import { MongoLogin } from "./mongo-login.js";

export type MongoDocument = Record<string, unknown>;

/** What the server keeps: names of collections and their documents. */
export type Collections = Record<string, MongoDocument[]>;

const OP_MSG = 2013;
const OP_QUERY = 2004;
const OP_REPLY = 1;

/**
 * Speaks as much of MongoDB's wire protocol (OP_MSG; "MongoDB Wire Protocol" in its manual) as the driver needs for
 * commands with and without cursors. Filters compare for equality, which is enough to see that they arrive.
 */
export async function startMongo(
  collections: Collections,
  { login }: { readonly login?: { readonly user: string; readonly password: string } } = {},
) {
  const commands: MongoDocument[] = [];
  const sockets = new Set<Socket>();
  const open = new Map<number, MongoDocument[]>();
  let nextCursor = 100;

  const answer = (command: MongoDocument): MongoDocument => {
    const [name = ""] = Object.keys(command);
    if (!["hello", "ismaster", "isMaster", "endSessions", "killCursors"].includes(name))
      commands.push(command);
    switch (name) {
      case "hello":
      case "ismaster":
      case "isMaster":
        return {
          ok: 1,
          isWritablePrimary: true,
          helloOk: true,
          maxWireVersion: 25,
          minWireVersion: 0,
          maxBsonObjectSize: 16_777_216,
          maxMessageSizeBytes: 48_000_000,
          maxWriteBatchSize: 100_000,
          ...(login !== undefined && { saslSupportedMechs: ["SCRAM-SHA-256"] }),
        };
      case "ping":
      case "endSessions":
      case "killCursors":
        return { ok: 1 };
      case "find": {
        const filter = (command.filter ?? {}) as MongoDocument;
        const found = (collections[String(command.find)] ?? []).filter((document) =>
          Object.entries(filter).every(([key, value]) => document[key] === value),
        );
        return batch(found, {
          size: Number(command.batchSize ?? 101),
          namespace: `${String(command.$db)}.${String(command.find)}`,
        });
      }
      case "getMore": {
        const rest = open.get(Number(command.getMore)) ?? [];
        return batch(rest, {
          size: Number(command.batchSize ?? 101),
          namespace: `${String(command.$db)}.${String(command.collection)}`,
          next: true,
          id: Number(command.getMore),
        });
      }
      case "insert":
        collections[String(command.insert)] = [
          ...(collections[String(command.insert)] ?? []),
          ...(command.documents as MongoDocument[]),
        ];
        return { ok: 1, n: (command.documents as unknown[]).length };
      case "explain":
        return { ok: 1, queryPlanner: { winningPlan: { stage: "COLLSCAN" } } };
      case "aggregate":
        return batch(collections[String(command.aggregate)] ?? [], { size: 101, namespace: "x.y" });
      case "sleep":
        return { never: true };
      default:
        return { ok: 0, errmsg: `no such command: '${name}'`, code: 59, codeName: "CommandNotFound" };
    }
  };

  const batch = (
    documents: readonly MongoDocument[],
    options: { size: number; namespace: string; next?: boolean; id?: number },
  ): MongoDocument => {
    nextCursor += 1;
    const id = options.id ?? nextCursor;
    const rest = documents.slice(options.size);
    open.set(id, rest);
    const shown = documents.slice(0, options.size);
    return {
      ok: 1,
      cursor: {
        id: BSON.Long.fromNumber(rest.length > 0 ? id : 0),
        ns: options.namespace,
        ...(options.next === true ? { nextBatch: shown } : { firstBatch: shown }),
      },
    };
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    let pending = Buffer.alloc(0);
    const person = login === undefined ? undefined : new MongoLogin(login);
    socket.on("data", (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 16 && pending.length >= pending.readInt32LE(0)) {
        const message = pending.subarray(0, pending.readInt32LE(0));
        pending = pending.subarray(message.length);
        const opcode = message.readInt32LE(12);
        const command = opcode === OP_QUERY ? legacyQuery(message) : sections(message);
        const reply = person?.answer(command) ?? answer(command);
        if (reply.never === true) continue;
        socket.write(framed({ reply, to: message.readInt32LE(4), legacy: opcode === OP_QUERY }));
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    /** What was asked, greetings left out. */
    commands,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function sections(message: Buffer): MongoDocument {
  let command: MongoDocument = {};
  for (let at = 20; at < message.length - 4; ) {
    const kind = message[at];
    const size = message.readInt32LE(at + 1);
    if (kind === 0) command = { ...BSON.deserialize(message.subarray(at + 1, at + 1 + size)), ...command };
    else {
      const end = message.indexOf(0, at + 5);
      const name = message.subarray(at + 5, end).toString();
      const documents: MongoDocument[] = [];
      for (let from = end + 1; from < at + 1 + size; from += message.readInt32LE(from))
        documents.push(BSON.deserialize(message.subarray(from, from + message.readInt32LE(from))));
      command = { ...command, [name]: documents };
    }
    at += 1 + size;
  }
  return command;
}

function legacyQuery(message: Buffer): MongoDocument {
  const start = message.indexOf(0, 20) + 9;
  return BSON.deserialize(message.subarray(start, start + message.readInt32LE(start)));
}

function framed({ reply, to, legacy }: { reply: MongoDocument; to: number; legacy: boolean }): Buffer {
  const document = Buffer.from(BSON.serialize(reply));
  const body = legacy
    ? Buffer.concat([Buffer.from([8, 0, 0, 0]), Buffer.alloc(12), Buffer.from([1, 0, 0, 0]), document])
    : Buffer.concat([Buffer.alloc(4), Buffer.from([0]), document]);
  const header = Buffer.alloc(16);
  header.writeInt32LE(16 + body.length, 0);
  header.writeInt32LE(1, 4);
  header.writeInt32LE(to, 8);
  header.writeInt32LE(legacy ? OP_REPLY : OP_MSG, 12);
  return Buffer.concat([header, body]);
}
