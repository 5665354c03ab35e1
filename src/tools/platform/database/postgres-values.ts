import { types } from "pg";

const INT8 = 20;
const NUMERIC = 1700;
/** Dates, times and intervals stay as the server writes them: a time zone of this machine is no part of the data. */
const AS_TEXT = new Set([1082, 1083, 1114, 1115, 1182, 1183, 1184, 1185, 1186, 1187, 1231, 1266, 1270]);
/** More digits than a number of JSON is sure to keep. */
const EXACT_DIGITS = 15;

type Parser = (text: string) => unknown;

export function parserOf(oid: number, format?: "text" | "binary"): Parser {
  if (AS_TEXT.has(oid)) return (text) => text;
  if (oid === INT8 || oid === NUMERIC) return exactNumber;
  return types.getTypeParser(oid, (format ?? "text") as "text") as Parser;
}

/** A number where that loses nothing, else the text. */
function exactNumber(text: string): number | string {
  const digits = text.replace(/^[-+]?0*|\./g, "").length;
  const number = Number(text);
  return Number.isFinite(number) && digits <= EXACT_DIGITS ? number : text;
}
