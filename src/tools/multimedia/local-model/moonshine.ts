import { pathToFileURL } from "node:url";
import { type NativeSession, type NativeTensor, openNativeSession } from "../../../weights/native-session.js";
import type { SpeechPlaces } from "./protocol.js";

/** Of the tiny model: eight heads of this many numbers each. */
const HEADS = 8;
const HEAD_NUMBERS = 36;
const BEGIN = 1;
const END = 2;
/** Marks that stand for no text begin here. */
const FIRST_SPECIAL = 32_000;
/** Nobody says more; a model that goes on repeats itself. */
const PIECES_PER_SECOND = 6.5;
const HEARD_RATE = 16_000;

interface Tokenizer {
  decode(pieces: readonly number[]): string;
}

export interface Moonshine {
  transcribe(wave: Float32Array): string;
}

/** github.com/usefulsensors/moonshine: an encoder that takes the plain wave, and a decoder with a memory. */
export async function openMoonshine(
  places: Extract<SpeechPlaces, { readonly kind: "moonshine" }>,
): Promise<Moonshine> {
  const { runtime, threads } = places;
  const encoder = openNativeSession({ runtime, threads, model: places.encoder });
  const decoder = openNativeSession({ runtime, threads, model: places.decoder });
  const tokenizer = ((await import(pathToFileURL(places.tokenizer).href)) as { default: Tokenizer }).default;
  return {
    transcribe(wave) {
      const input = { type: "float32", data: wave, dims: [1, wave.length] } as const;
      const { last_hidden_state: hidden } = encoder.run({ input_values: input });
      if (hidden === undefined) throw new Error("the model gave no answer");
      const most = Math.ceil((wave.length / HEARD_RATE) * PIECES_PER_SECOND) + 2;
      const pieces = decode(decoder, hidden, most);
      return tokenizer.decode([BEGIN, ...pieces.filter((piece) => piece < FIRST_SPECIAL)]).trim();
    },
  };
}

/** The likeliest piece after each one, until the model says that nothing follows. */
function decode(decoder: NativeSession, hidden: NativeTensor, most: number): readonly number[] {
  const memoryNames = decoder.inputNames.filter((name) => name.startsWith("past_key_values."));
  const empty: NativeTensor = {
    type: "float32",
    data: new Float32Array(0),
    dims: [0, HEADS, 1, HEAD_NUMBERS],
  };
  const memory: Record<string, NativeTensor> = Object.fromEntries(memoryNames.map((name) => [name, empty]));
  const pieces: number[] = [];
  let last = BEGIN;
  while (pieces.length < most) {
    const first = pieces.length === 0;
    const answer = decoder.run({
      input_ids: { type: "int64", data: BigInt64Array.of(BigInt(last)), dims: [1, 1] },
      encoder_hidden_states: hidden,
      use_cache_branch: { type: "bool", data: Uint8Array.of(first ? 0 : 1), dims: [1] },
      ...memory,
    });
    last = likeliest(answer.logits?.data ?? new Float32Array(0));
    if (last === END) break;
    pieces.push(last);
    for (const name of memoryNames) {
      // What the encoder heard does not change, and is only told the first time.
      const next = answer[name.replace("past_key_values.", "present.")];
      if (next !== undefined && (first || name.includes(".decoder."))) memory[name] = next;
    }
  }
  return pieces;
}

function likeliest(scores: Float32Array): number {
  let best = END;
  let highest = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < scores.length; at += 1) {
    const score = scores[at] ?? highest;
    if (score > highest) {
      highest = score;
      best = at;
    }
  }
  return best;
}
