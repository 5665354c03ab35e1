import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createDecoder, type Decoded, type DecodeTarget } from "../../src/tool/decode.js";

const folder = join(import.meta.dirname, "../fixtures/toolcalls");

interface Sample {
  readonly id: string;
  readonly note: string;
  readonly request?: { readonly tool_calls?: unknown };
  readonly expect: {
    readonly outcome: "ok" | "error" | "either";
    readonly args?: Record<string, unknown>;
    readonly args_keys?: number;
    readonly error_has?: readonly string[];
  };
}

interface FunctionCall {
  readonly name: string;
  readonly arguments: unknown;
}

const targets: DecodeTarget[] = JSON.parse(readFileSync(join(folder, "toolcalls.tools.json"), "utf8"));
const decoders = new Map(targets.map((target) => [target.name, createDecoder(target)]));

/** Rows about the envelope, ids and unknown names belong to the stages before decode. */
function callOf(sample: Sample): FunctionCall | undefined {
  const calls = sample.request?.tool_calls;
  const call = Array.isArray(calls) && calls.length === 1 ? calls[0]?.function : undefined;
  return call !== undefined && decoders.has(call.name) ? call : undefined;
}

const samples: Sample[] = readFileSync(join(folder, "toolcalls.dev.jsonl"), "utf8")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => JSON.parse(line));
const rows = samples.flatMap((sample) => {
  const call = callOf(sample);
  return call === undefined ? [] : [{ sample, call }];
});

function expectAccepted(decoded: Decoded, sample: Sample): void {
  if (!decoded.ok) throw new Error(`refused: ${decoded.failure.message}`);
  expect(decoded.args).toMatchObject(sample.expect.args ?? {});
  if (sample.expect.args_keys !== undefined) {
    expect(Object.keys(decoded.args.options as object)).toHaveLength(sample.expect.args_keys);
  }
}

function expectRefused(decoded: Decoded, sample: Sample): void {
  if (decoded.ok) throw new Error(`accepted: ${JSON.stringify(decoded.args)}`);
  expect(decoded.failure.code).toBe("invalid_arguments");
  for (const word of sample.expect.error_has ?? []) expect(decoded.failure.message).toContain(word);
}

describe("sample tool calls", () => {
  it("has the rows about arguments", () => {
    expect(rows.length).toBeGreaterThanOrEqual(22);
  });

  it.each(rows.map((row) => [row.sample.id, row.sample.note, row] as const))("%s %s", (_id, _note, row) => {
    const decoded = decoders.get(row.call.name)?.decode(row.call.arguments);
    if (decoded === undefined) throw new Error("no decoder");
    const { outcome } = row.sample.expect;
    if (outcome === "ok" || (outcome === "either" && decoded.ok)) expectAccepted(decoded, row.sample);
    else expectRefused(decoded, row.sample);
  });
});
