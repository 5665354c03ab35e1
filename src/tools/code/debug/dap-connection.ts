import { Readable, Writable } from "node:stream";
import type { DebugProtocol } from "@vscode/debugprotocol";
import type { RunningProcess } from "../../../env/environment.js";
import { ToolError } from "../../../tool/errors.js";
import { endWith } from "./end-with.js";
import type { DebugRoom } from "./types.js";

/** Far beyond what any stop needs: a program that floods the protocol is not followed any further. */
const MAX_BYTES = 256 * 1024 * 1024;

/** The debug adapter protocol over the pipes of a program in the session's environment. */
export interface DapConnection {
  /** Rejects with what the adapter says, and when it is gone. */
  request<R extends DebugProtocol.Response>(command: string, args: object): Promise<R["body"]>;
  on<E extends DebugProtocol.Event>(event: string, listener: (body: E["body"]) => void): void;
  /** Resolves with why, when nothing more will come. */
  readonly lost: Promise<Error>;
  end(): Promise<void>;
}

export async function openDap(
  adapter: readonly string[],
  { ctx, stop, env }: DebugRoom & { readonly env: Readonly<Record<string, string>> },
): Promise<DapConnection> {
  const { ProtocolClient } = await import("@vscode/debugadapter-testsupport/lib/protocolClient.js");
  class Client extends ProtocolClient {
    over(readable: Readable, writable: Writable): this {
      this.connect(readable, writable);
      return this;
    }
  }
  let lose: (error: Error) => void = () => undefined;
  const lost = new Promise<Error>((resolve) => {
    lose = resolve;
  });
  const incoming = new Readable({ read() {} });
  let received = 0;
  const take = (bytes: Uint8Array) => {
    received += bytes.length;
    try {
      if (received > MAX_BYTES) throw new Error("too much output");
      // Not `push`: what the client throws at a broken message must arrive here.
      incoming.emit("data", Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    } catch (error) {
      lose(gone(`its messages could not be read (${error instanceof Error ? error.message : error})`));
    }
  };
  const process: RunningProcess = await ctx.environment.spawn({
    // Both outputs arrive in one stream, where the protocol needs one for itself.
    command: ["sh", "-c", 'exec "$@" 2>/dev/null', "sh", ...adapter],
    // Python looks for modules where it starts, and a file of the project may have the name of one it needs.
    cwd: "/",
    env,
    onOutput: take,
  });
  endWith(stop, process);
  void process.ended.then((end) => lose(gone(end.lost ?? `it ended with exit code ${end.exitCode}`)));
  const outgoing = new Writable({
    write(bytes: Buffer, _encoding, done) {
      process.write(bytes).then(
        () => done(),
        () => done(),
      );
    },
  });
  const client = new Client().over(incoming, outgoing);
  return {
    lost,
    async request<R extends DebugProtocol.Response>(command: string, args: object): Promise<R["body"]> {
      const answer = await Promise.race([
        client.send(command, args),
        lost.then((error) => Promise.reject(error)),
      ]);
      return (answer as R).body;
    },
    on: (event, listener) => void client.on(event, (message: DebugProtocol.Event) => listener(message.body)),
    async end() {
      await process.end();
    },
  };
}

function gone(why: string): ToolError {
  return new ToolError(`The debugger was lost: ${why}.`, {
    hint: "Call again; run the program by itself if it stays so.",
  });
}
