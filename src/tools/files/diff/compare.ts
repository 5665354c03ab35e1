import { kindByContent } from "../binary-kind.js";
import { decodeText, detectEncoding } from "../text-encoding.js";
import { diffTexts } from "./compare-texts.js";
import type { DiffOptions, FileDiff, Side } from "./types.js";

/** Larger texts are compared, but their lines are not. */
export const MAX_TEXT_BYTES = 8 * 1024 * 1024;

/** How two files differ; `path` is what the answer calls them. */
export async function compareSides(
  path: string,
  {
    before,
    after,
    options,
    signal,
  }: { before: Side; after: Side; options: DiffOptions; signal: AbortSignal },
): Promise<FileDiff> {
  const old = before.bytes ?? new Uint8Array();
  const now = after.bytes ?? new Uint8Array();
  const status = before.bytes === undefined ? "added" : after.bytes === undefined ? "removed" : "modified";
  const nothing = { path, added: 0, removed: 0, hunks: [] } as const;
  if (status === "modified" && Buffer.compare(old, now) === 0) return { ...nothing, status: "identical" };
  const sizes = `${old.length.toLocaleString("en")} and ${now.length.toLocaleString("en")} bytes`;
  const oldText = await textOf(old);
  const newText = await textOf(now);
  if (oldText === undefined || newText === undefined) {
    return { ...nothing, status, binary: true, note: `binary (${sizes})` };
  }
  if (Math.max(old.length, now.length) > MAX_TEXT_BYTES) {
    return { ...nothing, status, note: `too large to compare line by line (${sizes})` };
  }
  const diff = await diffTexts({ before: oldText.text, after: newText.text, signal }, options);
  const note = noteOn({ oldText, newText, smallest: diff.smallest, differs: diff.hunks.length > 0 });
  return {
    path,
    status: diff.hunks.length === 0 && options.ignoreWhitespace ? "identical" : status,
    added: diff.added,
    removed: diff.removed,
    hunks: diff.hunks,
    ...(diff.cut && { cut: true }),
    note,
  };
}

interface Decoded {
  readonly text: string;
  readonly encoding: string;
}

async function textOf(bytes: Uint8Array): Promise<Decoded | undefined> {
  if (kindByContent(bytes) !== undefined) return undefined;
  const encoding = detectEncoding(bytes);
  if (encoding === undefined) return undefined;
  const text = bytes.length > MAX_TEXT_BYTES ? "" : await decodeText(bytes, encoding);
  return { text, encoding: `${encoding.name}${encoding.bom ? " with byte order mark" : ""}` };
}

function noteOn(found: {
  oldText: Decoded;
  newText: Decoded;
  smallest: boolean;
  differs: boolean;
}): string | undefined {
  const { oldText, newText } = found;
  const notes: string[] = [];
  if (oldText.encoding !== newText.encoding && oldText.text !== "" && newText.text !== "") {
    notes.push(`encodings differ: ${oldText.encoding}, ${newText.encoding}`);
  }
  if (found.differs && oldText.text.replaceAll("\r\n", "\n") === newText.text.replaceAll("\r\n", "\n")) {
    notes.push("only line endings differ (CRLF, LF)");
  }
  if (!found.smallest)
    notes.push("too different for the smallest difference: the whole middle is shown as replaced");
  return notes.length === 0 ? undefined : notes.join("; ");
}
