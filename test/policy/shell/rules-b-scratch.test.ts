import { readFileSync } from "node:fs";
import { it } from "vitest";
import { judgeCommand } from "../../../src/policy/shell/judge.js";
import { RULE_SETS } from "../../../src/policy/shell/rules/index.js";
import { codeCommands } from "../../../src/policy/shell/rules/interpreters.js";
import type { Finding, RuleSet } from "../../../src/policy/shell/types.js";
import { rowsOf } from "./rows.js";

if (process.env.NESTED)
  (RULE_SETS as RuleSet[]).push({
    family: "nested",
    programs: {},
    any: [
      (c): Finding | undefined => {
        const n = codeCommands(c);
        let best: Finding | undefined;
        for (const t of n?.shell ?? []) {
          const v = judgeCommand(t);
          if (v.verdict !== "safe" && (best === undefined || v.verdict === "hardline"))
            best = { level: v.verdict, rule: v.rule, reason: v.reason };
        }
        return best;
      },
    ],
  });
it("x", () => {
  const out: string[] = [];
  for (const name of ["git", "containers", "cloud", "data", "code", "mixed"])
    for (const [level, line] of rowsOf(`${name}.tsv`)) {
      const v = judgeCommand(line.replaceAll("⏎", "\n"));
      if (v.verdict !== level) out.push(`${name}: want ${level} got ${v.verdict} (${v.rule}): ${line}`);
    }
  for (const line of readFileSync("/work/shared/data/safety/commands.dev.jsonl", "utf8")
    .split("\n")
    .filter(Boolean)) {
    const r = JSON.parse(line) as { cmd: string; label: string; family: string; note: string };
    const v = judgeCommand(r.cmd);
    if (v.verdict !== r.label) out.push(`DEV ${r.label} got ${v.verdict} (${v.rule}): ${r.cmd} # ${r.note}`);
  }
  for (const line of readFileSync("/tmp/b-extra2.txt", "utf8").split("\n").filter(Boolean)) {
    const [label, ...rest] = line.split("\t");
    const cmd = rest.join("\t").replaceAll("⏎", "\n");
    const v = judgeCommand(cmd);
    const want = { d: "danger", s: "safe", h: "hardline" }[label ?? ""];
    if (v.verdict !== want) out.push(`EXTRA ${label} got ${v.verdict} (${v.rule}): ${cmd}`);
  }
  console.log(out.join("\n"));
});
