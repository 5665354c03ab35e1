import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { sanitizeErrorText } from "../../src/call/sanitize.js";
import { serializeOutput } from "../../src/tool/serialize.js";
import { describeThrown } from "../../src/tool/thrown.js";

interface Sample {
  readonly id: string;
  readonly class: string;
  readonly raw?: string;
  readonly raw_parts?: readonly (readonly [string, number])[];
  readonly js?: string;
  readonly must_remove: readonly string[];
  readonly must_keep: readonly string[];
  readonly max_len?: number;
  readonly note: string;
}

const file = fileURLToPath(new URL("../fixtures/errors/errors.dev.jsonl", import.meta.url));
const samples: readonly Sample[] = readFileSync(file, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Sample);

/** Runs the snippet the way a handler would run, once in this realm and once in a foreign one. */
function settle(snippet: string, foreignRealm: boolean): string {
  const source = `(() => { ${snippet} })()`;
  try {
    const output: unknown = foreignRealm ? runInNewContext(source) : new Function(`return ${source}`)();
    return serializeOutput(output);
  } catch (thrown) {
    const { type, message } = describeThrown(thrown);
    return sanitizeErrorText(`Tool execution failed: ${type}: ${message}`);
  }
}

function shownTo(sample: Sample): readonly string[] {
  if (sample.js !== undefined) return [settle(sample.js, false), settle(sample.js, true)];
  const raw = sample.raw ?? (sample.raw_parts ?? []).map(([text, times]) => text.repeat(times)).join("");
  return [sanitizeErrorText(raw)];
}

describe("error samples", () => {
  it("are all there", () => {
    expect(samples.length).toBeGreaterThanOrEqual(21);
  });

  it.each(samples)("$id $class: $note", (sample) => {
    for (const text of shownTo(sample)) {
      for (const gone of sample.must_remove) expect(text).not.toContain(gone);
      for (const kept of sample.must_keep) expect(text).toContain(kept);
      expect(text.length).toBeLessThanOrEqual(sample.max_len ?? 2_000);
    }
  });
});
