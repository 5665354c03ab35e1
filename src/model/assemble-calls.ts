import { randomBytes } from "node:crypto";
import type { ModelFinish, ModelPart } from "./model-client.js";

/** What one event of a stream says about a call. Empty texts count as left out. */
export interface CallPiece {
  readonly index?: number | undefined;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  /** A piece of the arguments' JSON text. */
  readonly text?: string | undefined;
  /** What only the server understands and wants back with the call. */
  readonly extra?: unknown;
}

export interface AssembledCall {
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it, closed. */
  readonly arguments: string;
  readonly extra?: unknown;
}

interface OpenCall {
  readonly index: number | undefined;
  /** As the server writes it; may be that of another call, too. */
  given: string;
  /** The only one of its kind, once it is known. */
  id: string;
  name: string;
  text: string;
  extra: unknown;
}

/**
 * Puts streamed calls together. Servers tell parallel calls apart by id, by index, or only by beginning a new one: all
 * of them with index 0, one id for several, ids that come late or change with every piece. So a piece belongs to the call
 * with its id, else to the last one with its index, else to the last one; and a name behind arguments that are whole
 * begins a call of its own.
 */
export class CallAssembler {
  readonly #calls: OpenCall[] = [];

  get size(): number {
    return this.#calls.length;
  }

  /** What can be told of it by now: that a call has begun, once its id and its name are known. */
  *add(piece: CallPiece): Generator<ModelPart> {
    const isEmpty = !piece.id && !piece.name && !piece.text;
    const found = this.#callOf(piece);
    if (found === undefined && isEmpty) return;
    const call = found ?? this.#begin(piece);
    call.extra ??= piece.extra;
    if (call.given === "") call.given = piece.id ?? "";
    if (call.name === "") call.name = piece.name ?? "";
    call.text += piece.text ?? "";
    if (call.id !== "" || call.given === "" || call.name === "") return;
    call.id = this.#calls.some(({ id }) => id === call.given) ? mintCallId() : call.given;
    yield { type: "tool_call_begun", id: call.id, name: call.name };
  }

  /**
   * All of them in order, or undefined when one was cut off: arguments that are not closed, or none at all where the
   * answer says it was cut. Nothing is closed on the model's behalf, and then none of them counts.
   */
  finish({ cutOff }: { readonly cutOff: boolean }): readonly AssembledCall[] | undefined {
    const whole = this.#calls.every(
      ({ name, text }) => name !== "" && !isUnclosed(text) && !(cutOff && text.trim() === ""),
    );
    if (!whole) return undefined;
    return this.#calls.map(({ id, name, text, extra }) => ({
      id: id === "" ? mintCallId() : id,
      name,
      arguments: text.trim() === "" ? "{}" : text,
      ...(extra !== undefined && { extra }),
    }));
  }

  #callOf(piece: CallPiece): OpenCall | undefined {
    const { index, id = "", name = "", text = "" } = piece;
    const here = this.#calls.filter((call) => index === undefined || call.index === index);
    const last = here.at(-1);
    if (last === undefined) return undefined;
    if (id === "") return name !== "" && isDone(last, name) ? undefined : last;
    const known = here.findLast((call) => call.given === id);
    // The same id once more, with a name and arguments although it had all of them: another call.
    if (known !== undefined) return name !== "" && text !== "" && isDone(known, name) ? undefined : known;
    // An id nobody has seen: a new call when it brings a name, else one that came late or changes with each piece.
    return name !== "" && last.name !== "" ? undefined : last;
  }

  #begin({ index }: CallPiece): OpenCall {
    const call: OpenCall = { index, given: "", id: "", name: "", text: "", extra: undefined };
    this.#calls.push(call);
    return call;
  }
}

/**
 * The last parts of an answer. Where a call was cut off, the answer was, whatever reason its server gave; then nothing of
 * it is run, and nothing of it goes back as it came.
 */
export function* ending(
  calls: readonly AssembledCall[] | undefined,
  finish: Omit<ModelFinish, "type">,
): Generator<ModelPart> {
  if (calls === undefined) {
    yield { type: "finish", ...finish, reason: "length", opaque: undefined };
    return;
  }
  for (const { id, name, arguments: given } of calls)
    yield { type: "tool_call", call: { id, name, arguments: given } };
  const called = calls.length > 0 && finish.reason === "stop";
  yield { type: "finish", ...finish, reason: called ? "tool_calls" : finish.reason };
}

/** For servers that give none. Unlike a number, it stays the only one in a whole conversation. */
export function mintCallId(): string {
  return `call_${randomBytes(8).toString("hex")}`;
}

/** Whether a piece with this name can no longer belong to it. */
function isDone(call: OpenCall, name: string): boolean {
  if (call.name === "") return false;
  if (call.name !== name) return true;
  return call.text.trim() !== "" && !isUnclosed(call.text);
}

/** Ends inside a string, an object or a list: whatever the server says, the rest is missing. */
export function isUnclosed(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
  }
  return inString || depth > 0;
}
