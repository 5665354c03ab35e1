import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { nodeFrom } from "../../src/config/node.js";
import { createPolicy, type PolicyOptions } from "../../src/policy/engine.js";
import { PermissionTable, type RuleLayer } from "../../src/policy/profiles/permission-table.js";
import { readRules } from "../../src/policy/profiles/read-rules.js";
import { loadAnalysis } from "../../src/shell/analysis.js";
import type { Effect } from "../../src/tool/effects.js";
import { rulesBench } from "./support.js";

beforeAll(() => loadAnalysis());

const permission = fc.constantFrom(
  "*",
  "file:*",
  "*:read",
  "file:write",
  "file:read",
  "network:fetch",
  "terminal:execute",
  "env:write",
);
const permissions = fc.array(permission, { maxLength: 3 });
const paths = fc.array(fc.constantFrom("/srv/**", "/srv/a", "/tmp/**", "**/secret", "~/x/**"), {
  maxLength: 2,
});
const commands = fc.array(fc.constantFrom("rm *", "git push *", "ls", "sudo *", "echo *"), { maxLength: 2 });
const hosts = fc.array(fc.constantFrom("example.com", "*.example.com", "evil.org"), { maxLength: 2 });
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 });

const restrictions = fc.record({
  "file:*": optional(fc.record({ allowed_paths: paths, denied_paths: paths }, { requiredKeys: [] })),
  "terminal:execute": optional(
    fc.record({ allowed_commands: commands, denied_commands: commands }, { requiredKeys: [] }),
  ),
  "network:*": optional(fc.record({ allowed_hosts: hosts, denied_hosts: hosts }, { requiredKeys: [] })),
});
const ruleSet = fc.record({
  allow: permissions,
  deny: fc.array(permission, { maxLength: 1 }),
  approval_required: fc.array(permission, { maxLength: 1 }),
  restrictions,
  tools: fc.record({ t: optional(fc.constantFrom("allow", "deny", "approval_required")) }),
});

const effect: fc.Arbitrary<Effect> = fc.oneof(
  fc
    .constantFrom("/srv/a", "/srv/a/b", "/tmp/x", "/opt/secret", "/home/nobody/.bashrc", "*")
    .chain((resource) =>
      fc.constantFrom<Effect>(
        { action: "file:write", resource, mode: "write" },
        { action: "file:read", resource, mode: "read" },
      ),
    ),
  fc
    .constantFrom("ls", "rm -rf build", "rm -rf /", "git push --force", "sudo ls; echo x", "*")
    .map((resource) => ({ action: "terminal:execute" as const, resource, mode: "execute" as const })),
  fc
    .constantFrom("https://example.com/", "https://a.example.com/", "https://evil.org/", "*")
    .map((resource) => ({ action: "network:fetch" as const, resource, mode: "read" as const })),
);
const effects = fc.array(effect, { minLength: 1, maxLength: 3 });

function layer(rules: unknown, source: RuleLayer["source"], onlyRestricts = false): RuleLayer {
  // Absent fields are left out, as in a file.
  const plain: unknown = JSON.parse(JSON.stringify(rules));
  const read = readRules(nodeFrom(plain), {
    file: source,
    report: ({ message }) => {
      throw new Error(message);
    },
  });
  return { ...read, source, file: source, ...(onlyRestricts && { onlyRestricts: true }) };
}

function decide(
  layers: readonly RuleLayer[],
  touched: readonly Effect[],
  { profile = "p", ...options }: Partial<PolicyOptions> & { profile?: string } = {},
) {
  const policy = createPolicy({ hermesHome: "/h", permissions: new PermissionTable({ layers }), ...options });
  const question = {
    entry: { name: "t" },
    args: {},
    effects: touched,
    session: { id: "s", profile, cwd: "/srv", workspace: "/srv" },
    environment: "local",
    environmentKind: "local" as const,
    home: "/home/nobody",
  };
  const decision = policy.decide(question);
  expect(policy.explainDecision(question).decision).toEqual(decision);
  return decision;
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;
const everything = { covering: () => ({ id: "always" }) };

describe("law 3: a deny never becomes an allow", () => {
  it("by adding rules, grants or yolo; and explain says the same as the decision", () => {
    let explicit = 0;
    fc.assert(
      fc.property(ruleSet, ruleSet, effects, (profile, more, touched) => {
        const before = [layer({ profiles: { p: profile } }, "home")];
        const decided = decide(before, touched);
        // What nobody speaks of may be allowed later; what somebody denied may not.
        if (decided.verdict !== "deny" || decided.rule.endsWith("/default")) return;
        explicit += 1;
        const after = [...before, layer({ global: more }, "managed")];
        expect(decide(after, touched, { yolo: true, allowlist: everything }).verdict).toBe("deny");
        const extended = [layer({ profiles: { p: { ...more, extends: "below" }, below: profile } }, "home")];
        const list = decided.rule.includes("allowed_");
        if (!list) expect(decide(extended, touched, { yolo: true }).verdict).toBe("deny");
      }),
      { numRuns: 1_500 },
    );
    expect(explicit).toBeGreaterThan(200);
  });

  it("a project's file makes nothing looser, whatever it says", () => {
    fc.assert(
      fc.property(ruleSet, ruleSet, effects, (profile, project, touched) => {
        const home = layer({ profiles: { p: profile } }, "home");
        const theirs = layer({ global: project, profiles: { p: project } }, "project", true);
        const without = decide([home], touched).verdict;
        const withIt = decide([home, theirs], touched).verdict;
        expect(STRICTNESS[withIt]).toBeGreaterThanOrEqual(STRICTNESS[without]);
      }),
      { numRuns: 1_500 },
    );
  });
});

describe("law 2: a child has no more than its parent", () => {
  it("for any two profiles held together", () => {
    fc.assert(
      fc.property(ruleSet, ruleSet, effects, (parent, child, touched) => {
        const layers = [layer({ profiles: { parent, child } }, "home")];
        const alone = ["parent", "child"].map(
          (profile) => STRICTNESS[decide(layers, touched, { profile }).verdict],
        );
        const both = decide(layers, touched, { profile: "parent+child" }).verdict;
        expect(STRICTNESS[both]).toBeGreaterThanOrEqual(Math.max(...alone));
      }),
      { numRuns: 1_500 },
    );
  });
});

describe("whatever is asked, there is an answer", () => {
  it("for any text as a path, command, host or pattern", () => {
    const anyText = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme" }),
      fc.constant("~/\0"),
    );
    const pattern = fc
      .array(fc.constantFrom("/", "**", "*", "?", "[", "]", "{", "}", ",", "\\", "a", "..", "~", "!"), {
        maxLength: 12,
      })
      .map((parts) => `/${parts.join("")}`);
    const shape = fc.constantFrom(
      { action: "file:write", mode: "write" } as const,
      { action: "file:read", mode: "read" } as const,
      { action: "network:fetch", mode: "read" } as const,
      { action: "terminal:execute", mode: "execute" } as const,
    );
    fc.assert(
      fc.property(anyText, pattern, shape, (resource, glob, kind) => {
        const restricted = {
          "file:*": { denied_paths: [glob], allowed_paths: [glob, "/srv/**"] },
          "terminal:execute": { denied_commands: [glob] },
          "network:*": { allowed_hosts: [glob] },
        };
        const rules = { global: { restrictions: restricted }, profiles: { p: { allow: ["*"] } } };
        const read = readRules(nodeFrom(rules), { file: "home", report: () => undefined });
        const decided = decide([{ ...read, source: "home", file: "home" }], [{ ...kind, resource }]);
        expect(["allow", "ask", "deny"]).toContain(decided.verdict);
      }),
      { numRuns: 2_000 },
    );
  });

  it("for any damage to a file of rules", async () => {
    const good = "global:\n  deny: [env:write]\nprofiles:\n  p:\n    allow: ['*']\n    tools: {t: deny}\n";
    const edit = fc.tuple(fc.nat(good.length), fc.nat(6), fc.string({ unit: "binary", maxLength: 3 }));
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
        let text = good;
        for (const [at, length, put] of edits) text = text.slice(0, at) + put + text.slice(at + length);
        const { table, ask } = await rulesBench(text);
        const { verdict } = ask({ effects: [{ action: "env:write", resource: "A", mode: "write" }] });
        if (table.problems.some(({ severity }) => severity === "error")) expect(verdict).toBe("deny");
      }),
      { numRuns: 150 },
    );
  });
});

describe("a profile within another one", () => {
  it("is never looser than that one, whatever it says itself", () => {
    let looser = 0;
    const asking = effect.map((each) => ({ ...each, ask: { reason: "why", unlessNamed: true } }));
    fc.assert(
      fc.property(
        ruleSet,
        ruleSet,
        fc.array(fc.oneof(effect, asking), { minLength: 1, maxLength: 3 }),
        (outer, own, touched) => {
          const layers = [layer({ profiles: { outer, p: { ...own, within: "outer" }, alone: own } }, "home")];
          const strictness = (profile: string) => STRICTNESS[decide(layers, touched, { profile }).verdict];
          expect(strictness("p")).toBeGreaterThanOrEqual(strictness("outer"));
          if (strictness("alone") < strictness("outer")) looser += 1;
        },
      ),
      { numRuns: 1000 },
    );
    expect(looser, "rules that would be looser by themselves").toBeGreaterThan(20);
  });
});
