import { readFileSync } from "node:fs";
import { messageOf } from "../../base/errno.js";
import { openNativeSession } from "../../weights/native-session.js";
import {
  DIMENSIONS,
  LONGEST_REQUEST,
  LONGEST_TEXT,
  LONGEST_WISH,
  type ModelOrder,
  type ModelPlaces,
  PART_SIGN,
} from "./model-protocol.js";
import { readWordpieces, type Wordpieces } from "./wordpiece.js";

/** Most pieces of name, purpose and parameters of a tool. */
const MOST_PIECES = { name: 48, purpose: 78, parameters: 62 };
/** A tool is read as if somebody asked for it: definitions then lie where requests do. */
const LEAD_IN = "Can you help me? I need";

/** A stretch of a text; the mean over its pieces is a vector. */
interface Span {
  readonly from: number;
  readonly to: number;
}

interface Encoded {
  readonly pieces: readonly number[];
  /** One for each vector that is wanted. */
  readonly spans: readonly Span[];
}

/** The program of the process that runs the model. It ends with the process that started it. */
function serve(places: ModelPlaces): void {
  const pieces = readWordpieces(readFileSync(places.vocabulary, "utf8"));
  const model = openModel(places);
  process.on("message", ({ id, texts, asRequest }: ModelOrder) => {
    try {
      const encoded = asRequest ? [encodeRequest(texts, pieces)] : texts.map((text) => encode(text, pieces));
      const hidden = model.run(encoded.map((text) => text.pieces));
      process.send?.({ id, vectors: vectorsOf(encoded, hidden) });
    } catch (error) {
      process.send?.({ id, error: messageOf(error) });
    }
  });
  process.send?.({ ready: true });
}

function encode(text: string, wordpieces: Wordpieces): Encoded {
  const [name = "", purpose, parameters = ""] = text.split(PART_SIGN);
  if (purpose === undefined) {
    const pieces = wordpieces.encode(text, LONGEST_TEXT);
    return { pieces, spans: [wholeOf(pieces)] };
  }
  const inner = (part: string, most: number) => wordpieces.encode(part, most).slice(1, -1);
  const [begin = 0, end = 0] = wordpieces.encode("", LONGEST_TEXT);
  const before = [begin, ...inner(LEAD_IN, LONGEST_TEXT)];
  const own = [...inner(name, MOST_PIECES.name), ...inner(purpose, MOST_PIECES.purpose)];
  const after = [...inner(parameters, MOST_PIECES.parameters), end];
  return {
    pieces: [...before, ...own, ...after],
    spans: [{ from: before.length, to: before.length + own.length }],
  };
}

/** The whole, and each wish as it is meant beside the others. */
function encodeRequest(wishes: readonly string[], wordpieces: Wordpieces): Encoded {
  const [only] = wishes;
  if (only !== undefined && wishes.length === 1) return encode(only.replaceAll(PART_SIGN, " "), wordpieces);
  const [begin = 0, end = 0] = wordpieces.encode("", LONGEST_TEXT);
  const pieces = [begin];
  const each: Span[] = [];
  for (const wish of wishes) {
    const from = pieces.length;
    const room = LONGEST_REQUEST - 1 - from;
    pieces.push(...wordpieces.encode(wish, LONGEST_WISH).slice(1, -1).slice(0, Math.max(0, room)));
    each.push({ from, to: pieces.length });
  }
  pieces.push(end);
  // A wish that had no room left is the whole once more.
  const spans = each.map((span) => (span.to > span.from ? span : wholeOf(pieces)));
  return { pieces, spans: [wholeOf(pieces), ...spans] };
}

function wholeOf(pieces: readonly number[]): Span {
  return { from: 0, to: pieces.length };
}

/** Means, of length one. `hidden` holds a vector per piece, texts padded to the longest. */
function vectorsOf(encoded: readonly Encoded[], hidden: Float32Array): Float32Array {
  const longest = Math.max(...encoded.map(({ pieces }) => pieces.length));
  const wanted = encoded.flatMap(({ spans }, row) =>
    spans.map(({ from, to }) => ({ from: row * longest + from, to: row * longest + to })),
  );
  const made = new Float32Array(wanted.length * DIMENSIONS);
  for (const [at, { from, to }] of wanted.entries()) {
    const vector = made.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS);
    for (let piece = from; piece < to; piece += 1)
      addTo(vector, hidden.subarray(piece * DIMENSIONS, (piece + 1) * DIMENSIONS));
    const size = Math.hypot(...vector) || 1;
    for (let place = 0; place < DIMENSIONS; place += 1) vector[place] = (vector[place] ?? 0) / size;
  }
  return made;
}

function addTo(vector: Float32Array, more: Float32Array): void {
  for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] ?? 0) + (more[at] ?? 0);
}

process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches the whole group; the process that started this one decides when it is no longer needed.
process.on("SIGINT", () => undefined);
serve(JSON.parse(process.argv[2] ?? "{}") as ModelPlaces);

interface TextModel {
  /** A vector per piece, every text padded to the longest. */
  run(encoded: readonly (readonly number[])[]): Float32Array;
}

function openModel(places: ModelPlaces): TextModel {
  const session = openNativeSession(places);
  return {
    run(encoded) {
      const longest = Math.max(...encoded.map(({ length }) => length));
      const pieces = new BigInt64Array(encoded.length * longest);
      const mask = new BigInt64Array(encoded.length * longest);
      for (const [row, numbers] of encoded.entries()) {
        for (const [at, number] of numbers.entries()) {
          pieces[row * longest + at] = BigInt(number);
          mask[row * longest + at] = 1n;
        }
      }
      const tensor = (data: BigInt64Array) =>
        ({ type: "int64", data, dims: [encoded.length, longest] }) as const;
      const feeds = {
        input_ids: tensor(pieces),
        attention_mask: tensor(mask),
        token_type_ids: tensor(new BigInt64Array(pieces.length)),
      };
      const { last_hidden_state: hidden } = session.run(feeds, ["last_hidden_state"]);
      if (hidden === undefined) throw new Error("the model gave no answer");
      return hidden.data;
    },
  };
}
