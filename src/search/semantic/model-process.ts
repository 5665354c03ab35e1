import { readFileSync } from "node:fs";
import {
  DIMENSIONS,
  LONGEST_REQUEST,
  LONGEST_TEXT,
  LONGEST_WISH,
  type ModelOrder,
  type ModelPlaces,
  PART_SIGN,
} from "./model-protocol.js";
import { openNativeSession } from "./native-session.js";
import { readWordpieces, type Wordpieces } from "./wordpiece.js";

/** Most pieces of each part of a tool's text, and how much the part counts in its vector. */
const PARTS = [
  { pieces: 48, weight: 0.5 },
  { pieces: 78, weight: 1 },
  { pieces: 62, weight: 0 },
];

/** A stretch of a text whose mean counts with this weight. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

interface Encoded {
  readonly pieces: readonly number[];
  /** One list of stretches for each vector that is wanted. */
  readonly vectors: readonly (readonly Span[])[];
}

/** The program of the process that runs the model. It ends with the process that started it. */
function serve(places: ModelPlaces): void {
  const pieces = readWordpieces(readFileSync(places.vocabulary, "utf8"));
  const session = openNativeSession(places);
  process.on("message", ({ id, texts, asRequest }: ModelOrder) => {
    try {
      const encoded = asRequest ? [encodeRequest(texts, pieces)] : texts.map((text) => encode(text, pieces));
      const hidden = session.run(encoded.map((text) => text.pieces));
      process.send?.({ id, vectors: vectorsOf(encoded, hidden) });
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? error.message : String(error) });
    }
  });
  process.send?.({ ready: true });
}

function encode(text: string, wordpieces: Wordpieces): Encoded {
  const parts = text.split(PART_SIGN);
  if (parts.length === 1) {
    const pieces = wordpieces.encode(text, LONGEST_TEXT);
    return { pieces, vectors: [[wholeOf(pieces)]] };
  }
  const [begin = 0, end = 0] = wordpieces.encode("", LONGEST_TEXT);
  const pieces = [begin];
  const spans: Span[] = [];
  for (const [at, { pieces: most, weight }] of PARTS.entries()) {
    const from = pieces.length;
    pieces.push(...wordpieces.encode(parts[at] ?? "", most).slice(1, -1));
    if (weight > 0 && pieces.length > from) spans.push({ from, to: pieces.length, weight });
  }
  return { pieces: [...pieces, end], vectors: [spans] };
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
    each.push({ from, to: pieces.length, weight: 1 });
  }
  pieces.push(end);
  // A wish that had no room left is the whole once more.
  const spans = each.map((span) => (span.to > span.from ? span : wholeOf(pieces)));
  return { pieces, vectors: [[wholeOf(pieces)], ...spans.map((span) => [span])] };
}

function wholeOf(pieces: readonly number[]): Span {
  return { from: 0, to: pieces.length, weight: 1 };
}

/** Weighted means, of length one. `hidden` holds a vector per piece, texts padded to the longest. */
function vectorsOf(encoded: readonly Encoded[], hidden: Float32Array): Float32Array {
  const longest = Math.max(...encoded.map(({ pieces }) => pieces.length));
  const wanted = encoded.flatMap(({ vectors }, row) =>
    vectors.map((spans) => ({ spans, start: row * longest })),
  );
  const made = new Float32Array(wanted.length * DIMENSIONS);
  for (const [at, { spans, start }] of wanted.entries()) {
    const vector = made.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS);
    for (const { from, to, weight } of spans) {
      const sum = new Float32Array(DIMENSIONS);
      for (let piece = start + from; piece < start + to; piece += 1)
        addTo(sum, hidden.subarray(piece * DIMENSIONS, (piece + 1) * DIMENSIONS), 1);
      addTo(vector, sum, weight / (Math.hypot(...sum) || 1));
    }
    const size = Math.hypot(...vector) || 1;
    for (let place = 0; place < DIMENSIONS; place += 1) vector[place] = (vector[place] ?? 0) / size;
  }
  return made;
}

function addTo(vector: Float32Array, more: Float32Array, factor: number): void {
  for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] ?? 0) + factor * (more[at] ?? 0);
}

process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches the whole group; the process that started this one decides when it is no longer needed.
process.on("SIGINT", () => undefined);
serve(JSON.parse(process.argv[2] ?? "{}") as ModelPlaces);
