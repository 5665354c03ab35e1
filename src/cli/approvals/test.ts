import { homedir } from "node:os";
import { judgeCommand } from "../../shell/judge.js";
import type { CommandContext } from "../context.js";
import { answerLines } from "../input.js";

/** `{"cmd": …}` per line → verdict, rule, reason, span and time of the danger analysis; nothing is run. */
export async function test({ home, out, args: words }: CommandContext): Promise<void> {
  const judge = (command: string) => {
    const started = performance.now();
    const judged = judgeCommand(command, { home: homedir(), hermesHome: home });
    const ms = Math.round((performance.now() - started) * 1000) / 1000;
    return { ...judged, span: judged.span ?? null, ms };
  };
  if (words.length > 0) {
    const judged = judge(words.join(" "));
    if (out.json) return out.value(judged);
    out.line(`${judged.verdict}${judged.rule === "safe" ? "" : `  ${judged.rule}: ${judged.reason}`}`);
    for (const segment of judged.segments) {
      out.line(`  ${segment.verdict.padEnd(8)} ${segment.canonical}`);
    }
    return;
  }
  await answerLines({
    answer(line) {
      const cmd = typeof line === "object" && line !== null ? (line as { cmd?: unknown }).cmd : undefined;
      if (typeof cmd !== "string") throw new Error('the line has no "cmd" text');
      return judge(cmd);
    },
    failed: (why) => ({ verdict: "hardline", rule: "hardline.unreadable", reason: why, span: null, ms: 0 }),
  });
}
