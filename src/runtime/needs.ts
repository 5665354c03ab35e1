import { createRequire } from "node:module";
import { findProgram } from "../env/find-program.js";
import type { Status } from "../registry/availability.js";
import type { Needs } from "../tool/tool.js";

/** Answers `needs` for this machine: programs on PATH, variables set, packages installed. */
export function checkNeeds(needs: Needs, env: Readonly<Record<string, string | undefined>>): Status {
  const missing = (needs.programs ?? []).filter((program) => findProgram(program, env) === undefined);
  if (missing.length > 0)
    return no(`not found on PATH: ${missing.join(", ")}`, needs.fix ?? `install ${missing.join(", ")}`);
  const absent = (needs.packages ?? []).filter((name) => !installed(name));
  if (absent.length > 0)
    return no(`not installed: ${absent.join(", ")}`, needs.fix ?? `npm install ${absent.join(" ")}`);
  const { anyEnv } = needs;
  if (anyEnv !== undefined && !anyEnv.some((name) => env[name])) {
    return no(`none of ${anyEnv.join(", ")} is set`, needs.fix ?? `set ${anyEnv.join(" or ")}`);
  }
  return { ok: true };
}

function no(reason: string, fix: string): Status {
  return { ok: false, reason, fix };
}

function installed(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
