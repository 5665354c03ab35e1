import { sanitizeErrorText } from "../call/sanitize.js";
import type { CommandContext } from "./globals.js";
import { answerLines, expandRepeats } from "./json-lines.js";

/** `{"raw": "…"}` or `{"raw_parts": [[text, times], …]}` per line → `{"text": …}`. */
export async function run(_context: CommandContext): Promise<void> {
  await answerLines({
    answer(line) {
      const row =
        typeof line === "object" && line !== null ? (line as { raw?: unknown; raw_parts?: unknown }) : {};
      const raw = typeof row.raw === "string" ? row.raw : expandRepeats(row.raw_parts);
      return { text: raw === undefined ? null : sanitizeErrorText(raw) };
    },
    failed: () => ({ text: null }),
  });
}
