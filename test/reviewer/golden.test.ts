import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createReviewer } from "../../src/policy/reviewer/reviewer.js";
import { modelServer, type Script } from "./model-server.js";
import { requestFor } from "./requests.js";

interface Row {
  readonly name: string;
  readonly command: string;
  /** Lengthened to this many characters. */
  readonly repeat?: number;
  readonly model: Script;
  readonly expect: "approve" | "deny" | "escalate";
  readonly asked: boolean;
  readonly injected?: boolean;
}

const rows = readFileSync(join(import.meta.dirname, "golden.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);

const never = new AbortController().signal;

describe("the golden set: what the reviewer model and its server do, and what becomes of it", () => {
  it.each(rows)("$name → $expect", async (row) => {
    await using server = await modelServer(row.model);
    const isSlow = row.model.delay === true || row.model.trickle === true;
    const reviewer = createReviewer({ url: server.url, model: "judge", timeoutMs: isSlow ? 250 : 20_000 });
    const command = row.repeat === undefined ? row.command : row.command.padEnd(row.repeat, "x");
    const review = await reviewer.review(requestFor(command), never);
    expect(review.decision).toBe(row.expect);
    expect(review.reason).not.toBe("");
    expect(server.received.length > 0).toBe(row.asked);
    expect(server.received.some(({ path }) => path.startsWith("/elsewhere"))).toBe(false);
    const [first] = server.received;
    if (first === undefined) return;
    const [mark, data, end, ...rest] = first.body.messages[1]?.content.split("\n") ?? [];
    expect(mark).toMatch(/^DATA-[0-9a-f]{24}$/);
    expect([end, rest]).toEqual([mark, []]);
    expect(JSON.parse(data ?? "")).toMatchObject({ tool: "terminal", arguments: { command } });
  });

  it("holds at least forty cases, each outcome among them, and every kind of mishap escalates", () => {
    expect(rows.length).toBeGreaterThanOrEqual(40);
    expect(new Set(rows.map((row) => row.expect))).toEqual(new Set(["approve", "deny", "escalate"]));
    expect(rows.filter((row) => row.injected && row.expect === "approve")).toEqual([]);
  });
});
