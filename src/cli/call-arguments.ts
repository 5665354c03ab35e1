import { failure, HermesError } from "../tool/errors.js";
import { readStdin } from "./read-stdin.js";

/** `'{"a":1}'`, `a=1 b=two`, or `-` for standard input. Decode sees the text as a model would have sent it. */
export async function readCallArguments(words: readonly string[]): Promise<unknown> {
  const [first] = words;
  if (first === undefined) return {};
  if (first === "-" && words.length === 1) return (await readStdin()).toString("utf8");
  if (words.length === 1 && /^\s*[[{"]/.test(first)) return first;
  const pairs: [string, string][] = [];
  for (const word of words) {
    const at = word.indexOf("=");
    if (at <= 0) {
      throw new HermesError(
        failure(
          "bad_request",
          `cannot read the argument ${JSON.stringify(word)}`,
          'Write key=value pairs, one JSON object, or "-" to read JSON from standard input.',
        ),
      );
    }
    pairs.push([word.slice(0, at), word.slice(at + 1)]);
  }
  return Object.fromEntries(pairs);
}
