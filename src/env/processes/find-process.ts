import { ToolError } from "../../tool/errors.js";
import type { Tracked } from "./tracked-process.js";

/** Also the sessions below it: their ids begin with its own. */
export function isWithin(session: string, outer: string): boolean {
  return session === outer || session.startsWith(`${outer}.`);
}

export function matching(processes: readonly Tracked[], id: string): readonly Tracked[] {
  const wanted = id.trim();
  if (wanted === "") return [];
  const exact = processes.filter((one) => one.id === wanted);
  if (exact.length > 0) return exact;
  return processes.filter((one) => one.id.startsWith(wanted) || one.id.startsWith(`proc_${wanted}`));
}

export function oneOf(processes: readonly Tracked[], id: string): Tracked {
  const found = matching(processes, id);
  const [one] = found;
  if (one !== undefined && found.length === 1) return one;
  const several = found.length > 1;
  const names = (several ? found : processes)
    .slice(0, 8)
    .map((each) => `${each.id} (${each.info.command.slice(0, 40)})`);
  throw new ToolError(
    several
      ? `${found.length} background processes begin with ${JSON.stringify(id)}.`
      : `There is no background process ${JSON.stringify(id)} in this session.`,
    {
      code: several ? "invalid_arguments" : "not_found",
      hint:
        names.length === 0
          ? "None was started; use the terminal tool with background: true."
          : `There are: ${names.join(", ")}.`,
    },
  );
}
