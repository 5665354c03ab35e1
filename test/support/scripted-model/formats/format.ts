import type { Bill } from "../account.js";
import type { Asked, AskedMessage } from "../scenario.js";

/** What is answered, with every id given. */
export interface Answer {
  readonly model: string;
  readonly reasoning: string;
  /** Proof that the reasoning was this model's own; goes back with it. */
  readonly signature: string;
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finish: "stop" | "tool_calls" | "length" | "refusal";
  readonly bill: Bill;
}

/** One of the wire formats, as its provider documents it. */
export interface Format {
  /** The model the address names, where it does; undefined when the address is not of this format. */
  matches(path: string): { readonly model?: string; readonly stream?: boolean } | undefined;
  read(body: Body): Omit<Asked, "model" | "stream">;
  /** Events in order, up to and without the end. */
  stream(answer: Answer): Iterable<string>;
  end(answer: Answer): string;
  whole(answer: Answer): unknown;
  /** An error in place of an answer. */
  error(status: number, message: string, code?: string | null): unknown;
  /** An error behind parts of an answer. */
  streamedError(message: string): string;
  /** Why a real server would refuse what goes back; undefined when it would not. */
  refuses(body: Body, known: Known): string | undefined;
}

/** Signatures that were given out: by signature, the reasoning and the model. */
export type Known = ReadonlyMap<string, { readonly reasoning: string; readonly model: string }>;

export type Body = Readonly<Record<string, unknown>>;

export function record(value: unknown): Body {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Body) : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Content as text: a text, or parts of which some hold text. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content)
    .map((part) => string(record(part).text))
    .join("");
}

export function imagesIn(content: unknown): number {
  return list(content).filter((part) => /image/.test(string(record(part).type))).length;
}

export function message(
  role: AskedMessage["role"],
  text: string,
  rest: Partial<AskedMessage> = {},
): AskedMessage {
  return { role, text, calls: [], images: 0, ...rest };
}

/** A text in pieces, as a model writes it. */
export function pieces(text: string, size = 12): string[] {
  const all: string[] = [];
  const characters = [...text];
  for (let at = 0; at < characters.length; at += size) all.push(characters.slice(at, at + size).join(""));
  return all;
}

export function event(value: unknown, name?: string): string {
  const data = typeof value === "string" ? value : JSON.stringify(value);
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${data}\n\n`;
}

/** Every call must be answered right behind the message that made it, as all providers want it. */
export function unanswered(messages: readonly AskedMessage[]): string | undefined {
  let open = new Set<string>();
  for (const { role, calls, answers } of messages) {
    if (role === "tool") {
      if (answers === undefined || !open.delete(answers))
        return `no call before it has the id ${answers ?? ""}`;
      continue;
    }
    if (open.size > 0) return `calls without a result: ${[...open].join(", ")}`;
    open = new Set(calls.map(({ id }) => id));
    if (open.size < calls.length) return "two calls have one id";
  }
  return open.size > 0 ? `calls without a result: ${[...open].join(", ")}` : undefined;
}

/** For formats that send arguments as an object: what cannot be one is left out, as their servers do. */
export function argumentsObject(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return {};
  }
}
