import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { checkValue } from "../../src/config/check-value.js";
import { loadConfig } from "../../src/config/load.js";
import { nodeFrom } from "../../src/config/node.js";
import { CONFIG_KEYS, type ConfigKey, envName } from "../../src/config/schema.js";
import type { HermesConfig, LoadedConfig } from "../../src/config/types.js";
import { sandbox } from "./sandbox.js";

const keys: readonly ConfigKey[] = CONFIG_KEYS;

function valueAt(values: HermesConfig, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((section, part) => (section as Record<string, unknown>)[part], values);
}

/** Every value is one its key would accept again, unchanged. */
function expectWithinSchema(loaded: LoadedConfig): void {
  for (const key of keys) {
    const value = valueAt(loaded.values, key.path);
    const complaints: string[] = [];
    const again = checkValue(key, nodeFrom(value), (finding) => {
      // A useless grant is worth a word each time; a value of the wrong type must not get this far.
      if (finding.severity === "error" || key.type.kind !== "grants") complaints.push(finding.message);
    });
    expect(complaints).toEqual([]);
    expect(again?.value).toEqual(value);
  }
}

const words = fc.constantFrom(
  ...keys.flatMap((key) => key.path.split(".")),
  ...["off", "manual", "true", "all", "__proto__", "constructor", "hasOwnProperty", "<<", "", "x"],
);
const scalar = fc.oneof(
  words,
  fc.string(),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
);
const junk = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small" }, scalar, fc.array(tie("value"), { maxLength: 4 }), tie("section")),
  section: fc.dictionary(words, tie("value"), { maxKeys: 5, noNullPrototype: true }),
}));

/** Files that look like settings: known keys with right or wrong values. */
const plausible = fc
  .array(fc.tuple(fc.constantFrom(...keys), fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), junk.value)))
  .map((pairs) => {
    const root: Record<string, unknown> = {};
    for (const [key, value] of pairs) {
      const parts = key.path.split(".");
      const leaf = parts.pop() ?? "";
      let section = root;
      for (const part of parts) {
        const next = section[part];
        section[part] = typeof next === "object" && next !== null && !Array.isArray(next) ? next : {};
        section = section[part] as Record<string, unknown>;
      }
      section[leaf] = value;
    }
    return root;
  });

/** Written apart from the product's own comparison, so that a mistake there shows. */
/** Written down a second time: what a project may only tighten, and which way that is. */
const LOOSE_TO_STRICT: Readonly<Record<string, readonly unknown[]>> = {
  "terminal.sandbox": ["off", "auto", "required"],
  "terminal.sandbox_network": [true, false],
  "terminal.container_persistent": [true, false],
  "terminal.container_network": [true, false],
  "approvals.mode": ["off", "smart", "manual"],
  "approvals.unattended_mode": ["queue", "page", "deny"],
  "approvals.cron_mode": ["queue", "page", "deny"],
  "security.allow_private_urls": [true, false],
  "security.redact_patterns": [false, true],
  "guardrails.hard_stop": ["off", "auto", "on"],
  "journal.enabled": [false, true],
  "mcp.sampling": [true, false],
  "code_execution.mode": ["project", "strict"],
  "code_execution.sandbox": ["off", "auto", "required"],
  "code_execution.network": [true, false],
};

function isAtLeastAsStrict(key: ConfigKey, { was, is }: { was: unknown; is: unknown }): boolean {
  const [before, after] = [was, is].map((value) =>
    Array.isArray(value) ? value.map((item) => JSON.stringify(item)) : [],
  );
  if (key.project === "free") return true;
  if (key.project === "lower") return (is as number) <= (was as number);
  if (key.project === "unite") return before?.every((item) => after?.includes(item)) === true;
  if (key.project === "subset") {
    const everything = key.path === "toolsets" && (before?.includes('"all"') || before?.includes('"*"'));
    return everything || after?.every((item) => before?.includes(item)) === true;
  }
  if (key.project === "narrow") {
    return (
      before?.length === 0 || (after?.length !== 0 && after?.every((item) => before?.includes(item)) === true)
    );
  }
  const order = LOOSE_TO_STRICT[key.path];
  if (order !== undefined) return order.indexOf(is) >= order.indexOf(was);
  return JSON.stringify(is) === JSON.stringify(was);
}

const STRICTNESS = { off: 0, smart: 1, manual: 2 };

// Hundreds of real file loads each; a busy machine may need far longer than usual.
describe("whatever is in the files", { timeout: 180_000 }, () => {
  it("loading never throws and gives only values of the declared types", async () => {
    using box = sandbox();
    box.trustProject();
    const text = fc.oneof(
      fc.oneof(junk.section, plausible).map((value) => stringify(value)),
      fc.tuple(plausible, fc.nat()).map(([value, cut]) => stringify(value).slice(0, cut % 400)),
      fc.string({ unit: fc.constantFrom(..."ab:- \n\t[]{}&*!|>'\"#%@`,?~\u0000\uFEFF\u2028") }),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.constantFrom("home/config.yaml", "etc/managed.yaml"),
        async (content, file) => {
          box.write(file, content);
          box.write("project/.hermes/config.yaml", content);
          expectWithinSchema(await box.load());
        },
      ),
      { numRuns: 400 },
    );
  });

  it("the same holds for variables, .env and flags", async () => {
    using box = sandbox();
    const names = fc.constantFrom(...keys.map(envName), "HERMES_YOLO_MODE", "HERMES_HOME", "HERMES_X");
    const text = fc.oneof(fc.string(), words, fc.json(), fc.integer().map(String));
    const flag = fc.constantFrom(...keys.flatMap((key) => [key.path, key.flag ?? "yolo"]));
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(names, text),
        fc.array(fc.tuple(names, text)),
        fc.dictionary(flag, junk.value),
        async (env, dotenv, flags) => {
          box.write("home/.env", dotenv.map(([name, value]) => `${name}=${value}\n`).join(""));
          expectWithinSchema(await box.load({ env, flags }));
        },
      ),
      // A blank entry of a list of refusals was once kept and complained about again whenever it was looked at.
      { numRuns: 200, examples: [[{}, [], { "tools.disabled": [" "] }]] },
    );
  });

  it("every key that a project may tighten has its order written down here", () => {
    const tightened = keys.filter(({ project }) => typeof project === "object").map(({ path }) => path);
    expect(tightened.toSorted()).toEqual(Object.keys(LOOSE_TO_STRICT).toSorted());
  });

  it("a project file never makes anything looser", async () => {
    using box = sandbox();
    box.trustProject();
    await fc.assert(
      fc.asyncProperty(plausible, plausible, async (home, project) => {
        box.write("home/config.yaml", stringify(home));
        const file = box.write("project/.hermes/config.yaml", "");
        rmSync(file);
        const before = (await box.load()).values;
        box.write("project/.hermes/config.yaml", stringify(project));
        const after = (await box.load()).values;
        for (const key of keys) {
          const [was, is] = [valueAt(before, key.path), valueAt(after, key.path)];
          expect(isAtLeastAsStrict(key, { was, is }), `${key.path}: ${was} → ${is}`).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("breaking a file in any place never loosens what it said", async () => {
    using box = sandbox();
    const settings = fc.record({
      mode: fc.constantFrom("off", "smart", "manual"),
      deny: fc.array(fc.stringMatching(/^[a-z*? ]{1,8}$/), { minLength: 1, maxLength: 4 }),
      urls: fc.boolean(),
    });
    const damages = fc.constantFrom("\t", "]", "\u0000", "{", "a: b: c", "*x ");
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(settings, fc.nat(), damages, fc.boolean(), async (written, at, damage, knownGood) => {
        // A home of its own for each run, so that no other run's good version can help.
        const folder = `home/run${runs++}`;
        const load = () =>
          loadConfig({ home: join(box.root, folder), cwd: box.root, env: {}, systemDir: box.system });
        const text = stringify({
          approvals: { mode: written.mode, deny: written.deny },
          security: { allow_private_urls: written.urls },
        });
        const cut = at % (text.length + 1);
        if (knownGood) {
          box.write(`${folder}/config.yaml`, text);
          await load();
        }
        box.write(`${folder}/config.yaml`, text.slice(0, cut) + damage + text.slice(cut));
        const loaded = await load();
        const state = loaded.files[0]?.state;
        if (state === "read") return;
        expect(state).toBe(knownGood ? "last-good" : "broken");
        const { approvals, security } = loaded.values;
        expect(STRICTNESS[approvals.mode]).toBeGreaterThanOrEqual(STRICTNESS[written.mode]);
        if (!written.urls) expect(security.allow_private_urls).toBe(false);
        // Without a good version part of a list may be lost; then the runtime must be told.
        if (knownGood) expect(approvals.deny).toEqual(expect.arrayContaining(written.deny));
        else expect(loaded.policyIncomplete).toBe(true);
      }),
      { numRuns: 300, examples: [[{ mode: "off", deny: [" "], urls: false }, 0, "\t", true]] },
    );
  });
});

describe("the table of keys", () => {
  it("has defaults its own checks accept, and no two keys share a name or a variable", () => {
    const complaints: string[] = [];
    for (const key of keys) {
      checkValue(key, nodeFrom(key.default), (finding) => complaints.push(finding.message));
    }
    expect(complaints).toEqual([]);
    expect(new Set(keys.map((key) => key.path)).size).toBe(keys.length);
    const variables = keys.flatMap((key) => [envName(key), ...(key.envAliases ?? [])]);
    expect(new Set(variables).size).toBe(variables.length);
  });

  it("a rule with an order that cannot be read counts as its strict end, in a file and in a variable", async () => {
    using box = sandbox();
    for (const key of keys) {
      if (typeof key.project !== "object") continue;
      const strict = key.project.looseToStrict.at(-1);
      box.write("home/config.yaml", stringify(nested(key.path, "mispelt")));
      expect(valueAt((await box.load()).values, key.path), key.path).toBe(strict);
      box.write("home/config.yaml", "{}\n");
      const { values } = await box.load({ env: { [envName(key)]: "mispelt" } });
      expect(valueAt(values, key.path), envName(key)).toBe(strict);
    }
  });
});

function nested(path: string, value: unknown): unknown {
  return path.split(".").reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
}
