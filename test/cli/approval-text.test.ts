import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { visible } from "../../src/base/visible-text.js";
import type { ApprovalRequest } from "../../src/call/scope.js";
import { Output } from "../../src/cli/output.js";
import { questionLines, rememberLines } from "../../src/cli/session/approval-text.js";

const out = new Output({ color: false, ascii: true }, {});
const UNSEEN = /[^\P{C}]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}/u;
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 3_000 }),
  fc.string({
    unit: fc.constantFrom("a", " ", "\n", "\r", "\u001b[2K", "\u202e", "   always   ", "漢", "\u0301"),
    maxLength: 300,
  }),
);

function requestWith(hostile: string): ApprovalRequest {
  return {
    id: "apr_1",
    hash: "0",
    callId: "c",
    tool: hostile,
    args: { command: hostile, [hostile]: { inner: hostile }, flag: true },
    effects: [{ action: "file:write", resource: hostile, mode: "write" }],
    rule: hostile,
    reason: hostile,
    environment: hostile,
    environmentKind: "local",
    session: { id: "s", profile: "default", cwd: hostile, workspace: hostile },
    door: "cli",
    segments: [{ text: hostile, canonical: hostile, verdict: "danger", rule: "r", reason: hostile }],
    sessionKeys: [hostile],
    remember: [hostile],
    expiresAt: 0,
    review: hostile,
  };
}

describe("what a person reads before approving", () => {
  it("holds nothing that hides, whatever the call brings along, and no row is wider than the terminal", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 40, max: 120 }), fc.boolean(), (hostile, columns, whole) => {
        const page = { out, columns, whole };
        const request = requestWith(hostile);
        for (const line of [...questionLines(request, page), ...rememberLines(request, page)]) {
          expect(line).not.toMatch(UNSEEN);
          expect(line).toMatch(/^[\x20-\x7e]*$/);
          expect(line.length).toBeLessThanOrEqual(columns);
        }
      }),
    );
  });

  it("is every character of the text, in its order", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 2_000 }), (command) => {
        const request = { ...requestWith("x"), args: { command }, effects: [], remember: [] };
        const rows = questionLines(request, { out, columns: 60, whole: true }).filter((line) =>
          line.startsWith("   | "),
        );
        const shown = rows.map((row) => row.slice(5)).join("");
        const expected = [...command.replaceAll("\n", "")]
          .map((sign) => (sign > "\x7e" ? `\\u{${sign.codePointAt(0)?.toString(16)}}` : visible(sign)))
          .join("");
        expect(shown).toBe(expected);
      }),
    );
  });
});
