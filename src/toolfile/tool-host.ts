import type { CheckFn } from "../tool/tool.js";

/** What tools made from files may ask of the source that brings them. */
export interface ToolHost {
  /** Value of an environment variable: the process's own, or of the `.env` file of the Hermes home. */
  variable(name: string): string | undefined;
  /** Whether these variables are all set; the same function for the same names. */
  checkFor(names: readonly string[]): CheckFn;
}

/** Tools that need the same variables share one check, and with it the remembered answer. */
export function createToolHost(variable: (name: string) => string | undefined): ToolHost {
  const checks = new Map<string, CheckFn>();
  return {
    variable,
    checkFor(names) {
      const key = names.join(" ");
      const known = checks.get(key);
      if (known !== undefined) return known;
      const check: CheckFn = () => {
        const missing = names.filter((name) => !variable(name));
        if (missing.length === 0) return true;
        const list = missing.join(", ");
        return {
          ok: false,
          reason: `not set: ${list}`,
          fix: `set ${list} in the environment or the .env file`,
        };
      };
      checks.set(key, check);
      return check;
    },
  };
}
