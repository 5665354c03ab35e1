import type { CallResult, IncomingCall } from "../tool/call.js";
import type { Failure } from "../tool/errors.js";
import type { ToolSchema } from "../tool/tool.js";

export type WireFormat = "envelope" | "openai" | "responses" | "anthropic" | "gemini" | "mcp";

/** A request in neutral form, with what its answer needs. Everything is matched by position. */
export interface ParsedRequest {
  readonly format: WireFormat;
  /** Ids are unique within the request, whatever the sender wrote. */
  readonly calls: readonly IncomingCall[];
  /** The id each call came with (numbers as text), `undefined` where it had none; repeats are kept. */
  readonly givenIds: readonly (string | undefined)[];
  /** Set for a JSON-RPC message: its id goes back with the type it had. */
  readonly rpcId?: string | number | undefined;
  /** Set when the text was not JSON and could be read only after repair. */
  readonly repaired?: true;
}

/** One entry of a request, taken apart but not judged. */
export interface RawEntry {
  readonly id: unknown;
  readonly name: unknown;
  readonly arguments: unknown;
  /** The entry as sent, for limits that concern all of it. */
  readonly source: unknown;
  /** Why this entry cannot be a call at all. */
  readonly problem?: string;
}

export interface Recognised {
  readonly format: WireFormat;
  /** One per call. They are read only once their number is known to be bearable. */
  readonly entries: readonly unknown[];
  read(entry: unknown): RawEntry;
  readonly rpcId?: string | number;
}

/** One result next to what the wire needs to link it to its call. */
export interface Answer {
  readonly id: string;
  /** False when the sender gave no id and the runtime made one up. */
  readonly idWasGiven: boolean;
  /** The name the model called, which is the one it expects back. */
  readonly name: string;
  readonly result: CallResult;
}

/** One wire format, both ways. Pure: no file, no network, no SDK. */
export interface Adapter {
  readonly format: WireFormat;
  /** `undefined` means "not my format"; a failure means "mine, but there is nothing to answer". */
  recognise(value: unknown): Recognised | Failure | undefined;
  encode(answers: readonly Answer[], request: ParsedRequest): unknown;
  define(definitions: readonly ToolSchema[]): unknown;
}
