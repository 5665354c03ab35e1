import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "../../base/errno.js";
import { reasonOf } from "./read-source.js";
import { failed, type Homes, type Step, skipped } from "./step.js";

/** What else lies in such a home and stays there, with the reason. */
const OTHERS: Readonly<Record<string, string>> = {
  "auth.json": "signing in is done anew: hermes setup model",
  "mcp-tokens": "signing in to MCP servers is done anew: hermes mcp login NAME",
  "SOUL.md": "there is no file of that kind here; an AGENTS.md in a project, or memory, says such things",
  plugins: "plugins are Python there; docs/plugins.md says how one is written here",
  hooks: "hooks are Python there; a plugin brings hooks here",
  profiles: "each profile is a home of its own: hermes migrate --from …/profiles/NAME --home OTHER",
  sessions: "files of old sessions; those of state.db are brought over",
};

export async function planOthers({ from }: Homes): Promise<Step[]> {
  const steps: Step[] = [];
  for (const [name, reason] of Object.entries(OTHERS)) {
    try {
      if (await holdsSomething(join(from, name))) steps.push(skipped({ kind: "other", name, reason }));
    } catch (error) {
      steps.push(failed({ kind: "other", name, reason: reasonOf(error) }));
    }
  }
  return steps;
}

async function holdsSomething(path: string): Promise<boolean> {
  try {
    return !(await stat(path)).isDirectory() || (await readdir(path)).length > 0;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
