import { homedir } from "node:os";
import { describedFiles } from "../../policy/paths/file-view.js";
import { judgePath } from "../../policy/paths/judge-path.js";
import type { CommandContext } from "../context.js";
import { answerLines } from "../input.js";

/**
 * `{"allow": […], "deny": […], "path": …, "cwd": …, "op": …}` per line → `{"verdict", "rule", "resolved"}`.
 * `home` says what `~` means, `fs` describes a disk in words; without them it is the real one.
 */
export async function test(_context: CommandContext): Promise<void> {
  await answerLines({
    answer(line) {
      const row = typeof line === "object" && line !== null ? (line as Record<string, unknown>) : {};
      const files = typeof row.fs === "string" ? describedFiles(row.fs) : undefined;
      const { verdict, rule, resolved, reason } = judgePath({
        allow: textsOf(row.allow),
        deny: textsOf(row.deny),
        path: row.path,
        cwd: textOr(row.cwd, process.cwd()),
        home: textOr(row.home, process.env.HOME || homedir()),
        op: textOr(row.op, "write"),
        files,
      });
      return { verdict, rule, resolved, reason };
    },
    failed: (reason) => ({ verdict: "deny", rule: "path:unreadable-line", resolved: null, reason }),
  });
}

/** A list that is missing or no list opens nothing. */
function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" && value !== "" ? value : otherwise;
}
