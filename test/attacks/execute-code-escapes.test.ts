// @needs bwrap python3
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NODE_ATTEMPTS, nodeScript } from "./escapes/node-attempts.js";
import { makePlace, type Place } from "./escapes/place.js";
import {
  type Attempts,
  FILES,
  NETWORK,
  PERSISTENCE,
  PRIVILEGES,
  PROCESSES,
  SECRETS,
} from "./escapes/python-attempts.js";
import { pythonScript } from "./escapes/python-script.js";
import {
  openScripts,
  type Row,
  rowsOf,
  type ScriptResult,
  type ScriptSession,
} from "./escapes/script-session.js";

const PYTHON = { ...SECRETS, ...FILES, ...NETWORK, ...PROCESSES, ...PRIVILEGES, ...PERSISTENCE };
/** A file that was written in the script's own temporary folder is not there outside. */
const isOwn = (proof: string) => proof.startsWith("/tmp/") && !existsSync(proof);
const escaped = (rows: readonly Row[]) => rows.filter(({ proof }) => proof !== null && !isOwn(proof));
const names = (attempts: Attempts) => Object.keys(attempts);

describe("a hostile script", () => {
  let place: Place;
  let scripts: ScriptSession;
  let before: string;
  let python: ScriptResult;
  let node: ScriptResult;
  beforeAll(async () => {
    place = await makePlace();
    before = place.fingerprint();
    scripts = await openScripts(place);
    python = await scripts.run("python", pythonScript(PYTHON, place.known));
    node = await scripts.run("javascript", nodeScript(NODE_ATTEMPTS, place.known));
  });
  afterAll(async () => {
    await scripts.close();
    await place.close();
  });

  test("runs at least 80 attempts, each to its end, shut in", () => {
    expect(python).toMatchObject({ status: "success", sandbox: "bubblewrap" });
    expect(node).toMatchObject({ status: "success", sandbox: "bubblewrap" });
    expect(rowsOf(python).map(({ name }) => name)).toEqual(names(PYTHON));
    expect(rowsOf(node).map(({ name }) => name)).toEqual(names(NODE_ATTEMPTS));
    expect(rowsOf(python).length + rowsOf(node).length).toBeGreaterThanOrEqual(80);
  });

  test.each([
    ["reaches no file that is not its own", FILES],
    ["finds no secret", SECRETS],
    ["reaches nobody over the network", NETWORK],
    ["touches no other process", PROCESSES],
    ["gains no privilege", PRIVILEGES],
    ["leaves nothing that others run later", PERSISTENCE],
  ])("%s", (_, attempts) => {
    const own = new Set(names(attempts));
    expect(escaped(rowsOf(python).filter(({ name }) => own.has(name)))).toEqual([]);
  });

  test("does no more in JavaScript", () => {
    expect(escaped(rowsOf(node))).toEqual([]);
  });

  test("has changed nothing, met nobody and ended nobody", () => {
    expect(place.fingerprint()).toBe(before);
    expect(place.visitors).toEqual([]);
    expect(place.victimLives()).toBe(true);
  });
});

/** Otherwise an attempt that is written wrongly would look like one that was held back. */
test("without a sandbox, the same attempts succeed", async () => {
  const place = await makePlace();
  const scripts = await openScripts(place, {
    flags: { "code_execution.sandbox": "off", "terminal.sandbox": "off" },
  });
  try {
    for (const [language, attempts, write] of [
      ["python", PYTHON, pythonScript],
      ["javascript", NODE_ATTEMPTS, nodeScript],
    ] as const) {
      const starred = Object.fromEntries(Object.entries(attempts).filter(([name]) => name.startsWith("*")));
      const result = await scripts.run(language, write(starred, place.known));
      const held = rowsOf(result).filter(({ proof }) => proof === null);
      expect([held, result.sandbox]).toEqual([[], expect.stringContaining("none")]);
      expect(rowsOf(result)).toHaveLength(Object.keys(starred).length);
    }
    expect(new Set(place.visitors)).toContain("tcp");
  } finally {
    await scripts.close();
    await place.close();
  }
});
