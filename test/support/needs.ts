import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { TestContext } from "vitest";

const PACKAGES: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../needs.json", import.meta.url), "utf8"),
);

/** Skips a test where a program it cannot do without is missing. A whole file says `// @needs` instead. */
export function needs(context: Pick<TestContext, "skip">, ...programs: readonly string[]): void {
  const reason = notInstalled(...programs);
  if (reason !== undefined) context.skip(reason);
}

/** Which of these programs are missing here and which packages bring them; undefined when all are there. */
export function notInstalled(...programs: readonly string[]): string | undefined {
  const missing = programs.filter((program) => !isThere(program));
  if (missing.length === 0) return undefined;
  const packages = new Set(missing.flatMap((program) => PACKAGES[program] ?? []));
  return `not installed: ${missing.join(", ")}: apt-get install ${[...packages].join(" ")}`;
}

function isThere(program: string): boolean {
  // Daemons lie where the path of an ordinary shell does not lead.
  return [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
