/** A text in quotes, also one that does not end, or a whole number token. Each character is looked at once. */
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG_INTEGER = /^-?\d{16,}$/;

/**
 * `JSON.parse`, except that whole numbers which JavaScript would round (the ids of many services) become texts,
 * digit by digit as they came.
 */
export function parseExactJson(json: string): unknown {
  if (!/\d{16}/.test(json)) return JSON.parse(json);
  return JSON.parse(
    json.replace(TEXT_OR_NUMBER, (found) =>
      LONG_INTEGER.test(found) && !Number.isSafeInteger(Number(found)) ? `"${found}"` : found,
    ),
  );
}
