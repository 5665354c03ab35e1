import { randomBytes } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import { ToolError } from "../../../tool/errors.js";
import { NODE_RELAY } from "../scripts.gen.js";
import { endWith } from "./end-with.js";
import type { DebugPlan, DebugRoom } from "./types.js";

/** One line must fit in memory several times; a script's whole source is the longest thing that is sent. */
const MAX_LINE_CHARS = 64 * 1024 * 1024;

export interface RelayEvents {
  readonly onOutput: (text: string) => void;
  readonly onEvent: (method: string, params: unknown) => void;
  readonly onExit: (code: number | null) => void;
  readonly onLost: (error: Error) => void;
}

/** Node's inspector protocol, spoken through a relay beside the program. */
export interface NodeRelay {
  /** Resolves when the inspector listens. */
  readonly open: Promise<void>;
  send<R>(method: string, params?: object): Promise<R>;
  /** Lets go of the program, which otherwise waits at its end for us. */
  letGo(): void;
  end(): Promise<void>;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export async function openNodeRelay(
  plan: DebugPlan,
  { ctx, stop, events }: DebugRoom & { readonly events: RelayEvents },
): Promise<NodeRelay> {
  const mark = `${randomBytes(16).toString("hex")} `;
  const pending = new Map<number, Pending>();
  let sent = 0;
  let lost: Error | undefined;
  let opened: Pending = { resolve: () => undefined, reject: () => undefined };
  const open = new Promise<void>((resolve, reject) => {
    opened = { resolve: () => resolve(), reject };
  });
  // Whoever waits for it hears of a failure; nobody else has to.
  open.catch(() => undefined);
  const giveUp = (error: Error) => {
    lost ??= error;
    opened.reject(error);
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  };
  const lose = (error: Error) => {
    giveUp(error);
    events.onLost(error);
  };
  const noise: string[] = [];
  const take = (line: string) => {
    if (!line.startsWith(mark)) {
      if (line.trim() !== "" && noise.length < 20) noise.push(line);
      return;
    }
    const record = JSON.parse(line.slice(mark.length)) as RelayRecord;
    if (record.output !== undefined) events.onOutput(record.output);
    else if (record.open === true) opened.resolve(undefined);
    else if (record.exit !== undefined) {
      giveUp(new Error("the program has ended"));
      events.onExit(exitCodeOf(record));
    } else if (record.failed !== undefined) lose(broken(record.failed));
    else if (record.message !== undefined) answer(JSON.parse(record.message) as ProtocolMessage);
  };
  const answer = ({ id, method, params, result, error }: ProtocolMessage) => {
    if (method !== undefined) events.onEvent(method, params);
    if (id === undefined) return;
    const waiting = pending.get(id);
    pending.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error.message));
  };
  const process = await ctx.environment.spawn({
    command: ["node", "--experimental-websocket", "-e", NODE_RELAY],
    cwd: plan.cwd,
    onOutput: lineReader(take, () => lose(broken("it sent a line that is too long"))),
  });
  endWith(stop, process);
  void process.ended.then(({ exitCode, lost: why }) =>
    lose(exitCode === 127 ? NO_NODE : broken(why ?? noise.at(-1) ?? `it ended with exit code ${exitCode}`)),
  );
  const write = (line: string) => process.write(`${line}\n`).catch(() => undefined);
  await write(JSON.stringify({ mark, program: plan.program, args: plan.args }));
  return {
    open,
    send<R>(method: string, params: object = {}): Promise<R> {
      if (lost !== undefined) return Promise.reject(lost);
      sent += 1;
      const id = sent;
      const answered = new Promise<unknown>((resolve, reject) => pending.set(id, { resolve, reject }));
      void write(JSON.stringify({ id, method, params }));
      return answered as Promise<R>;
    },
    letGo: () => void write("close"),
    async end() {
      await process.end();
    },
  };
}

interface RelayRecord {
  readonly output?: string;
  readonly open?: boolean;
  readonly message?: string;
  readonly failed?: string | undefined;
  readonly exit?: number | null;
  readonly signal?: string | null;
}

interface ProtocolMessage {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string } | undefined;
}

const NO_NODE = new ToolError("There is no Node.js in this environment.", {
  code: "unavailable",
  hint: "Install Node.js 20.10 or newer there.",
});

function broken(why: string): ToolError {
  return new ToolError(`The program could not be debugged: ${why}.`, {
    hint: "Debugging needs Node.js 20.10 or newer; run the program by itself to see whether it starts.",
  });
}

/** As a shell would say it: 128 and the number of the signal, as far as the common ones go. */
const SIGNALS: Readonly<Record<string, number>> = {
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
};

function exitCodeOf({ exit = null, signal }: RelayRecord): number | null {
  if (exit !== null) return exit;
  const number = SIGNALS[signal ?? ""];
  return number === undefined ? null : 128 + number;
}

function lineReader(take: (line: string) => void, tooLong: () => void): (bytes: Uint8Array) => void {
  const decoder = new StringDecoder("utf8");
  let pieces: string[] = [];
  let chars = 0;
  return (bytes) => {
    const [first = "", ...more] = decoder.write(Buffer.from(bytes)).split("\n");
    pieces.push(first);
    chars += first.length;
    for (const next of more) {
      const line = pieces.join("");
      pieces = [next];
      chars = next.length;
      take(line);
    }
    if (chars <= MAX_LINE_CHARS) return;
    pieces = [];
    chars = 0;
    tooLong();
  };
}
