import { loadConfig } from "../config/load.js";
import { formatProblem } from "../config/types.js";
import { EXIT } from "./exit-codes.js";
import type { CommandContext } from "./globals.js";

export async function run({ out, home, configFlags }: CommandContext): Promise<void> {
  const config = await loadConfig({ home, cwd: process.cwd(), env: process.env, flags: configFlags });
  const broken = config.problems.some((problem) => problem.severity === "error");
  if (out.json) out.value({ ok: !broken, problems: config.problems, files: config.files });
  else {
    for (const problem of config.problems)
      out.line(`${out.mark(problem.severity)} ${formatProblem(problem)}`);
    for (const file of config.files)
      out.line(`${out.mark(file.state === "read" ? "ok" : "warning")} ${file.path} (${file.state})`);
    if (config.problems.length === 0) out.line(`${out.mark("ok")} no problems`);
  }
  if (broken) process.exitCode = EXIT.usage;
}
