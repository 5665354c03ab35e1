import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { mountOver } from "../../src/env/sandbox/mounts.js";
import { planFor } from "../../src/env/sandbox/plan.js";
import { judgePlace } from "../../src/places/judge-place.js";
import { patternsOf } from "../../src/places/match-place.js";
import { PLACE_TABLE, type PlaceRow } from "../../src/places/table.js";
import { createPolicy } from "../../src/policy/engine.js";
import { judgeCommand, loadAnalysis } from "../../src/shell/analysis.js";
import { tempDir } from "../support/runtime.js";

const HOME = "/home/ada";
const homes = { home: HOME, hermesHome: `${HOME}/.hermes` };

/** One path that a pattern stands for. */
function exampleOf(pattern: string): string {
  const folder =
    pattern.endsWith("/") || pattern === "$HERMES" ? `${pattern.replace(/\/$/, "")}/inside` : pattern;
  return folder
    .replace(/^~\//, `${HOME}/`)
    .replace(/^\$HERMES/, homes.hermesHome)
    .replace(/^\*\*\//, "/srv/project/")
    .replaceAll("/**/", "/deep/")
    .replace(/\[(.)[^\]]*\]/g, "$1")
    .replace(/\{([^{},]*),[^{}]*\}/g, "$1")
    .replace(/^\/proc\/\*/, "/proc/1")
    .replace(/\/task\/\*/, "/task/1")
    .replaceAll("*", "some")
    .replaceAll("?", " ");
}

const examples = PLACE_TABLE.flatMap((row) =>
  patternsOf(row).map((pattern) => ({ row, pattern, path: exampleOf(pattern) })),
);
const verdicts = (path: string) => ({
  read: judgePlace({ path, operation: "read", ...homes }).verdict,
  write: judgePlace({ path, operation: "write", ...homes }).verdict,
});

beforeAll(() => loadAnalysis());

describe("every row of the table", () => {
  it("has patterns that match what they stand for, and is at least as strict as it says", () => {
    const rank = { allow: 0, ask: 1, deny: 2 };
    const wrong = examples.filter(({ row, path }) => {
      const { read, write } = verdicts(path);
      const isExact = row.only === true || row.what === "ordinary";
      return isExact
        ? row.what !== "ordinary" && (read !== row.read || write !== row.write)
        : rank[read] < rank[row.read] || rank[write] < rank[row.write];
    });
    expect(wrong.map(({ pattern, path }) => `${pattern}: ${path}`)).toEqual([]);
  });

  it("is obeyed by the policy in the same words: a denial asks nobody", () => {
    const policy = createPolicy({ hermesHome: homes.hermesHome, anyFolder: true });
    const decided = (path: string, mode: "read" | "write") =>
      policy.decide({
        entry: { name: "some_tool" },
        args: {},
        effects: [{ action: mode === "read" ? "file:read" : "file:write", resource: path, mode }],
        session: { id: "s", profile: "default", cwd: "/srv/project", workspace: "/srv/project" },
        // Elsewhere: this machine's own links must not matter here.
        environment: "ssh",
        environmentKind: "ssh",
        home: HOME,
      }).verdict;
    for (const { path } of examples) {
      expect({ path, read: decided(path, "read"), write: decided(path, "write") }).toEqual({
        path,
        ...verdicts(path),
      });
    }
  });

  it("is seen by the analysis of command lines: what a file tool may not do unasked, `cat` and `>` may not either", () => {
    const quoted = (path: string) => `'${path.replace(HOME, "/home/ada")}'`;
    const isFlagged = (command: string) => judgeCommand(command).verdict !== "safe";
    const wrong = examples.flatMap(({ row, path }) => {
      const { read, write } = verdicts(path);
      const found = [];
      if ((read !== "allow") !== isFlagged(`cat ${quoted(path)}`)) found.push(`read ${path} (${row.what})`);
      if (write !== "allow" && !isFlagged(`echo x > ${quoted(path)}`))
        found.push(`write ${path} (${row.what})`);
      return found;
    });
    expect(wrong).toEqual([]);
  });

  it("hides from sandboxed commands what reading would be asked about in a home", async () => {
    const home = join(tempDir(), "home");
    const hidden = examples.filter(({ row, pattern }) => isInHome(row, pattern));
    for (const { path } of hidden) {
      const place = path.replace(HOME, home);
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, "secret");
    }
    const plan = await planFor(
      { cwd: "/", env: { HOME: home }, workspace: tempDir() },
      { home, mode: "required", lasting: [] },
    );
    const shown = hidden
      .map(({ path }) => path.replace(HOME, home))
      .filter((path) => !/^(?:empty|blank)$/.test(mountOver(plan.mounts, path)?.kind ?? ""));
    expect(shown).toEqual([]);
    expect(hidden.length).toBeGreaterThan(40);
  });
});

/** Patterns that spell a place out, so that it can be covered; a few are wildcards for programs to recognise. */
function isInHome(row: PlaceRow, pattern: string): boolean {
  return pattern.startsWith("~/") && row.read !== "allow" && !/[*?]/.test(pattern);
}

it("what one list knew and another did not is the same for all", () => {
  const path = `${HOME}/.gemini/oauth_creds.json`;
  expect(verdicts(path)).toEqual({ read: "ask", write: "ask" });
  expect(judgeCommand("cat ~/.gemini/oauth_creds.json").verdict).toBe("danger");
});
