import { spawn } from "node:child_process";
import { main, type Outcome, outcomeOf, plainEnvironment } from "../cli/hermes.js";

/** Runs a command line of the documents in bash, with `hermes` meaning the built program. */
export function typed(
  line: string,
  options: { readonly home: string; readonly cwd: string },
): Promise<Outcome> {
  const program = `hermes() { "${process.execPath}" "${main}" "$@"; }\n`;
  const child = spawn("bash", ["-o", "pipefail", "-c", program + line], {
    cwd: options.cwd,
    env: plainEnvironment(options.home),
    stdio: ["ignore", "pipe", "pipe"],
  });
  return outcomeOf(child);
}
