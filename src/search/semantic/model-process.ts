import { readFileSync } from "node:fs";
import { DIMENSIONS, LONGEST_TEXT, type ModelOrder, type ModelPlaces } from "./model-protocol.js";
import { openNativeSession } from "./native-session.js";
import { readWordpieces } from "./wordpiece.js";

/** The program of the process that runs the model. It ends with the process that started it. */
function serve(places: ModelPlaces): void {
  const pieces = readWordpieces(readFileSync(places.vocabulary, "utf8"));
  const session = openNativeSession(places);
  process.on("message", ({ id, texts }: ModelOrder) => {
    try {
      const encoded = texts.map((text) => pieces.encode(text, LONGEST_TEXT));
      process.send?.({ id, vectors: meanVectors(encoded, session.run(encoded)) });
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? error.message : String(error) });
    }
  });
  process.send?.({ ready: true });
}

/** The mean over a text's pieces, of length one. `hidden` holds a vector per piece, texts padded to the longest. */
function meanVectors(encoded: readonly (readonly number[])[], hidden: Float32Array): Float32Array {
  const longest = Math.max(...encoded.map(({ length }) => length));
  const vectors = new Float32Array(encoded.length * DIMENSIONS);
  for (const [row, { length }] of encoded.entries()) {
    const vector = vectors.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS);
    for (let piece = 0; piece < length; piece += 1) {
      const from = (row * longest + piece) * DIMENSIONS;
      for (let at = 0; at < DIMENSIONS; at += 1) vector[at] = (vector[at] ?? 0) + (hidden[from + at] ?? 0);
    }
    const size = Math.hypot(...vector) || 1;
    for (let at = 0; at < DIMENSIONS; at += 1) vector[at] = (vector[at] ?? 0) / size;
  }
  return vectors;
}

process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches the whole group; the process that started this one decides when it is no longer needed.
process.on("SIGINT", () => undefined);
serve(JSON.parse(process.argv[2] ?? "{}") as ModelPlaces);
