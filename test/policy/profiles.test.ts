import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createPolicy } from "../../src/policy/engine.js";
import { loadPermissions } from "../../src/policy/profiles/load.js";
import { offeringFor } from "../../src/policy/profiles/permission-files.js";
import { permissionMatches } from "../../src/policy/profiles/permission-names.js";
import { loadAnalysis } from "../../src/shell/analysis.js";
import { tempDir, testRuntime } from "../support/runtime.js";
import { put, reads, rulesBench, runs, writes } from "./support.js";

beforeAll(() => loadAnalysis());

const SEED = `profiles:
  readonly_research:
    allow:
      - network:search
      - network:fetch
      - file:read
    deny:
      - file:write
      - file:delete
      - terminal:execute
  full_developer:
    allow: ["*"]
    deny:
      - env:write
    restrictions:
      file:write:
        allowed_paths: [/workspace/**, /tmp/**]
        denied_paths: [/workspace/.env, /workspace/secrets/**]
      terminal:execute:
        denied_commands: ["rm -rf /", ":(){ :|:& };:"]
  production_deploy:
    allow: [git:read, docker:run, network:fetch]
    deny: [terminal:execute, file:delete]
    approval_required: [docker:run, database:write]
`;

async function problemsOf(yaml: string): Promise<readonly string[]> {
  const { table } = await rulesBench(yaml);
  return table.problems.map(
    ({ severity, line, message, hint }) => `${severity} ${line}: ${message} (${hint})`,
  );
}

describe("hermes_permissions.yaml", () => {
  it("of the book loads as it stands, and says what the built-in profiles say", async () => {
    const written = await rulesBench(SEED);
    const built = await rulesBench("");
    expect(written.table.problems).toEqual([]);
    for (const profile of ["readonly_research", "full_developer", "production_deploy"]) {
      for (const effect of [writes("/workspace/a"), writes("/workspace/.env"), reads("/x"), runs("ls")]) {
        const asked = { profile, effects: [effect] };
        expect(written.ask(asked).verdict).toBe(built.ask(asked).verdict);
      }
    }
  });

  it.each([
    ["file:*", "file:write", true],
    ["file:*", "files:write", false],
    ["*:read", "git:read", true],
    ["*:read", "git:readme", false],
    ["*:*", "git:read", true],
    ["mcp:github_*", "mcp:github_issues", true],
    ["*", "a:b", true],
    ["file", "file:write", false],
  ])("%s is about %s: %s", (rule, permission, expected) => {
    expect(permissionMatches(rule, permission)).toBe(expected);
  });

  it.each<[string, string, RegExp]>([
    ["an unknown key", "profiles:\n  p:\n    denny: [file:write]\n", /error 3: unknown key denny.*"deny"/],
    ["what others call it", "profiles: {p: {ask: [file:write]}}", /unknown key ask.*"approval_required"/],
    [
      "an unknown restriction",
      "global:\n  restrictions:\n    file:write:\n      allowed_path: [/a]\n",
      /error 4: unknown key allowed_path.*allowed_paths/,
    ],
    ["rules at the top", "deny: [file:write]\n", /error 1: deny cannot stand at the top.*global/],
    ["no permission", "global: {deny: [filewrite]}", /"filewrite" is no permission.*file:write/],
    [
      "the wrong case",
      "global:\n  deny:\n    - file:Write\n",
      /error 3: .*file:Write matches nothing.*"file:write"/,
    ],
    ["the wrong case of a domain", "global: {deny: ['FILE:*']}", /FILE:\* matches nothing.*"file:\*"/],
    [
      "the wrong case of a restriction",
      "global: {restrictions: {'file:Write': {allowed_paths: [/a]}}}",
      /file:Write matches nothing.*"file:write"/,
    ],
    ["a number in a list", "global: {deny: [7]}", /must be a text, but it is 7/],
    ["a list for a section", "profiles: [a, b]", /profiles must be a section, but it is a list/],
    ["a text for a section", "global: everything", /global must be a section/],
    [
      "a limit of the wrong kind",
      "global: {restrictions: {'terminal:execute': {allowed_paths: [/a]}}}",
      /would have no effect there.*allowed_commands/,
    ],
    ["no number", "global: {restrictions: {'file:write': {max_bytes: many}}}", /max_bytes must be a number/],
    [
      "a climbing pattern",
      "global: {restrictions: {'file:write': {denied_paths: [/a/../b]}}}",
      /climbs with "\.\."/,
    ],
    [
      "an unusable tool rule",
      "global: {tools: {terminal: maybe}}",
      /must be one of allow, deny, approval_required/,
    ],
    [
      "an unusable pattern",
      "global: {tools: {t: {parameters: {x: {pattern: '(?=a)'}}}}}",
      /is no usable pattern/,
    ],
    [
      "an unknown parameter field",
      "global: {tools: {t: {parameters: {x: {maxx: 3}}}}}",
      /unknown key maxx.*"max"/,
    ],
    ["a name with a plus", "profiles: {'a+b': {allow: ['*']}}", /no usable profile name/],
    [
      "an unknown parent",
      "profiles:\n  p:\n    extends: full_developr\n",
      /error 2: profile p cannot extend full_developr.*full_developer/,
    ],
    ["a circle", "profiles: {a: {extends: b}, b: {extends: a}}", /extend each other in a circle/],
    [
      "a key twice",
      "global:\n  deny: [file:write]\n  deny: []\n",
      /error 3: the same setting is written twice/,
    ],
    ["a prototype", "profiles: {__proto__: {allow: ['*']}}", /without a usable name/],
    ["broken YAML", "profiles: {p: [\n", /YAML syntax/],
    ["two documents", "profiles: {}\n---\nglobal: {}\n", /more than one YAML document/],
  ])("%s is an error with its line", async (_what, yaml, expected) => {
    const problems = await problemsOf(yaml);
    expect(problems.join("\n")).toMatch(expected);
    const { ask } = await rulesBench(yaml);
    expect(ask({ effects: [reads("/a")] })).toMatchObject({ verdict: "deny", rule: "permissions:broken" });
  });

  it("a YAML bomb is refused at once", async () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
    for (let level = 1; level < 9; level += 1) {
      lines.push(
        `a${level}: &a${level} [${Array(9)
          .fill(`*a${level - 1}`)
          .join(", ")}]`,
      );
    }
    expect((await problemsOf(lines.join("\n"))).join()).toMatch(/too many values|unknown key/);
  });

  it("a domain that looks misspelt is a warning, and the rule stays in force", async () => {
    const { table, ask } = await rulesBench("global: {deny: ['flie:write']}");
    expect(table.problems).toEqual([
      expect.objectContaining({ severity: "warning", hint: expect.stringContaining("file") }),
    ]);
    expect(ask({ effects: [{ action: "flie:write", resource: "x", mode: "write" }] }).verdict).toBe("deny");
  });

  it.each([
    ["file:wirte", 'did you mean "file:write"?'],
    ["*:wirte", 'did you mean "*:write"?'],
    ["file:archive", "there are file:read, file:write, file:delete"],
  ])("a permission that no tool asks for is a warning with the line: %s", async (permission, hint) => {
    for (const rules of [
      `deny:\n    - "${permission}"`,
      `restrictions:\n    "${permission}": {max_bytes: 1}`,
    ]) {
      const { table } = await rulesBench(`global:\n  ${rules}\n`);
      expect(table.problems).toEqual([expect.objectContaining({ severity: "warning", line: 3, hint })]);
    }
  });

  it("permissions of built-in tools, of other domains and of MCP servers are no mistakes", async () => {
    const { runtime } = await testRuntime([], { builtins: true });
    const asked = [...runtime.registry.snapshot().entries.values()].flatMap((tool) => tool.permissions);
    expect(asked).toContain("file:write");
    const listed = JSON.stringify([...asked, "custom:thing", "mcp:GitHub", "file:*", "*:read", "*"]);
    expect((await rulesBench(`global: {approval_required: ${listed}}`)).table.problems).toEqual([]);
  });

  it("a rule about a tool that nobody knows is named, with what may have been meant", async () => {
    const { table } = await rulesBench(
      "global:\n  tools:\n    termnal: deny\n    terminal: deny\n    mcp_*: deny\n",
    );
    expect(table.unknownTools(["terminal", "read_file"])).toEqual([
      expect.objectContaining({ severity: "warning", line: 3, hint: expect.stringContaining("terminal") }),
    ]);
  });

  it("BOM and CRLF change nothing", async () => {
    const { table, ask } = await rulesBench(
      `\uFEFF${"global:\n  deny: [file:write]\n".replaceAll("\n", "\r\n")}`,
    );
    expect(table.problems).toEqual([]);
    expect(ask({ effects: [writes("/a")] }).verdict).toBe("deny");
  });
});

describe("rules with examples", () => {
  const good = `
global:
  deny:
    - permission: "*:write"
      match: [file:write, env:write]
      not_match: [file:read]
      reason: hands off
  restrictions:
    terminal:execute:
      denied_commands:
        - command: sudo *
          match: [sudo ls, /usr/bin/sudo ls, "env X=1 sudo ls", "ls; sudo ls", bash -c 'sudo ls']
          not_match: [echo sudo, ls]
    file:read:
      denied_paths:
        - path: "**/*.pem"
          match: [/a/b.pem, /a/B.PEM]
          not_match: [/a/b.pem.txt]
    network:fetch:
      allowed_hosts:
        - host: example.com
          match: [api.example.com]
          not_match: [example.org]
`;

  it("that hold load", async () => {
    const { table, ask } = await rulesBench(good);
    expect(table.problems).toEqual([]);
    expect(ask({ effects: [writes("/a")] })).toMatchObject({ verdict: "deny", reason: "hands off" });
  });

  it.each<[string, string, RegExp]>([
    [
      "match: [file:write, env:write]",
      "match: [file:write, file:read]",
      /5: .*"\*:write" does not match its example "file:read"/,
    ],
    ["not_match: [file:read]", "not_match: [git:write]", /6: .*"\*:write" matches its example "git:write"/],
    ["not_match: [echo sudo, ls]", "not_match: [/bin/sudo id]", /"sudo \*" matches its example/],
    ["match: [/a/b.pem, /a/B.PEM]", "match: [/a/b.key]", /does not match its example "\/a\/b.key"/],
    ["not_match: [example.org]", "not_match: [x.example.com]", /matches its example "x.example.com"/],
  ])("that fail are errors with the line: %s → %s", async (before, after, expected) => {
    const broken = good.replace(before, after);
    expect(broken).not.toBe(good);
    expect((await problemsOf(broken)).join("\n")).toMatch(expected);
  });
});

describe("extends", () => {
  it("adds to the parent and loses none of its denials", async () => {
    const { ask, table } = await rulesBench(`
profiles:
  mine:
    extends: full_developer
    allow: [custom:thing]
    restrictions:
      file:write:
        allowed_paths: [/srv/mine/**]
`);
    expect(table.problems).toEqual([]);
    const verdict = (path: string) => ask({ profile: "mine", effects: [writes(path)] }).verdict;
    expect(verdict("/srv/mine/a")).toBe("allow");
    expect(verdict("/workspace/a")).toBe("allow");
    expect(verdict("/workspace/.env")).toBe("deny");
    expect(verdict("/srv/other")).toBe("deny");
    expect(
      ask({ profile: "mine", effects: [{ action: "env:write", resource: "A", mode: "write" }] }).verdict,
    ).toBe("deny");
  });

  it("a profile may build on the built-in one of its own name", async () => {
    const { ask, table } = await rulesBench("profiles: {default: {extends: default, deny: ['env:*']}}");
    expect(table.problems).toEqual([]);
    expect(ask({ effects: [{ action: "env:read", resource: "A", mode: "read" }] }).verdict).toBe("deny");
    expect(ask({ effects: [runs("ls")] }).verdict).toBe("allow");
  });

  it("several parents, and parents of parents", async () => {
    const { ask } = await rulesBench(
      "profiles: {a: {allow: ['file:*']}, b: {extends: a, deny: ['file:delete']}, c: {extends: [b, readonly_research]}}",
    );
    const remove = { action: "file:delete", resource: "/tmp/x", mode: "write" } as const;
    expect(ask({ profile: "b", effects: [remove] }).verdict).toBe("deny");
    expect(ask({ profile: "c", effects: [writes("/tmp/x")] }).verdict).toBe("deny");
    expect(ask({ profile: "c", effects: [reads("/tmp/x")] }).verdict).toBe("allow");
  });
});

describe("files that break", () => {
  async function home() {
    const folder = tempDir();
    const file = join(folder, "hermes_permissions.yaml");
    const load = async () => {
      const table = await loadPermissions({ home: folder, systemDir: join(folder, "none") });
      const policy = createPolicy({ hermesHome: folder, permissions: table });
      const ask = (effect: ReturnType<typeof writes>) =>
        policy.decide({
          entry: { name: "t" },
          args: {},
          effects: [effect],
          session: { id: "s", profile: "default", cwd: "/srv", workspace: "/srv" },
          environment: "local",
          environmentKind: "local",
          home: "/home/nobody",
        }).verdict;
      return { table, ask };
    };
    return { folder, file, load };
  }

  it("keep the last good rules, and restrictions that can still be read count at once", async () => {
    const { file, load } = await home();
    writeFileSync(file, "global:\n  deny: [env:write]\n");
    expect((await load()).table.problems).toEqual([]);
    writeFileSync(file, "global:\n  deny: [file:write]\n  alow: [x]\n");
    const { table, ask } = await load();
    expect(table.problems.map(({ message }) => message).join()).toContain("unknown key alow");
    expect(ask({ action: "env:write", resource: "A", mode: "write" })).toBe("deny");
    expect(ask(writes("/srv/a"))).toBe("deny");
    expect(ask(runs("ls"))).toBe("allow");
  });

  it("without a good version allow nothing at all", async () => {
    const { file, load } = await home();
    writeFileSync(file, "global: {deny: [fil\n");
    const { table, ask } = await load();
    expect(table.broken).toContain(file);
    expect(ask(reads("/srv/a"))).toBe("deny");
  });

  it.each<[string, (file: string) => void]>([
    ["empty", (file) => writeFileSync(file, "")],
    ["cut off", (file) => writeFileSync(file, readFileSync(file, "utf8").slice(0, 12))],
    ["not text", (file) => writeFileSync(file, Buffer.from([0xff, 0xfe, 0x00, 0xd8]))],
    [
      "a folder",
      (file) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
    [
      "a link to nowhere",
      (file) => {
        rmSync(file);
        symlinkSync("nowhere", file);
      },
    ],
  ])("a file that has become %s does not lift its rules", async (_what, spoil) => {
    const { file, load } = await home();
    writeFileSync(file, "global:\n  deny: [env:write, file:write]\n");
    await load();
    spoil(file);
    const { table, ask } = await load();
    expect(table.problems.length).toBeGreaterThan(0);
    expect(ask(writes("/srv/a"))).toBe("deny");
  });

  it("a file that cannot be read does not lift its rules", async () => {
    const { file, load } = await home();
    writeFileSync(file, "global:\n  deny: [file:write]\n");
    await load();
    // Also for root, who may read every file.
    rmSync(file);
    mkdirSync(file);
    expect((await load()).ask(writes("/srv/a"))).toBe("deny");
  });

  it("a file that was taken away takes its rules with it", async () => {
    const { file, load } = await home();
    writeFileSync(file, "global:\n  deny: [file:read]\n");
    expect((await load()).ask(reads("/srv/a"))).toBe("deny");
    rmSync(file);
    expect((await load()).ask(reads("/srv/a"))).toBe("allow");
  });
});

describe("whose rules count", () => {
  async function layered(files: { managed?: string; home?: string; project?: string; trusted?: boolean }) {
    const root = tempDir();
    const project = join(root, "project");
    if (files.managed !== undefined) put(join(root, "etc/hermes_permissions.yaml"), files.managed);
    if (files.home !== undefined) put(join(root, "home/hermes_permissions.yaml"), files.home);
    if (files.project !== undefined) put(join(project, ".hermes/hermes_permissions.yaml"), files.project);
    mkdirSync(join(root, "home"), { recursive: true });
    const table = await loadPermissions({
      home: join(root, "home"),
      systemDir: join(root, "etc"),
      project: { folder: project, trusted: files.trusted ?? true },
    });
    const policy = createPolicy({ hermesHome: join(root, "home"), permissions: table });
    const ask = (effect: ReturnType<typeof reads>, profile = "default") =>
      policy.decide({
        entry: { name: "t" },
        args: {},
        effects: [effect],
        session: { id: "s", profile, cwd: "/srv", workspace: "/srv" },
        environment: "local",
        environmentKind: "local",
        home: "/home/nobody",
      }).verdict;
    return { table, ask, messages: table.problems.map(({ message }) => message).join("\n") };
  }

  it("managed rules hold under every profile, and nobody redefines a managed profile", async () => {
    const { ask, messages } = await layered({
      managed: "global: {deny: ['env:*']}\nprofiles: {safe: {allow: ['file:read']}}",
      home: "global: {allow: ['*']}\nprofiles: {safe: {allow: ['*']}}",
    });
    expect(ask({ action: "env:read", resource: "A", mode: "read" })).toBe("deny");
    expect(messages).toContain("profile safe is set by the managed permissions");
  });

  it("a project only takes away", async () => {
    const { ask, messages } = await layered({
      home: "profiles: {p: {allow: ['file:read']}}",
      project: `
global:
  deny: ['env:*']
  allow: ['git:*']
profiles:
  p: {allow: ['*'], approval_required: ['file:read'], tools: {t: allow}}
  other: {allow: ['*']}
`,
    });
    expect(ask({ action: "env:read", resource: "A", mode: "read" })).toBe("deny");
    expect(ask({ action: "git:read", resource: "A", mode: "read" }, "p")).toBe("deny");
    expect(ask(runs("ls"), "p")).toBe("deny");
    expect(ask(reads("/srv/a"), "p")).toBe("ask");
    expect(ask(runs("ls"), "other")).toBe("deny");
    expect(messages).toContain('"allow *" is ignored');
    expect(messages).toContain('"allow tool t" is ignored');
    expect(messages).toContain("there is no profile other");
  });

  it("a project's allowed_paths narrow and never open", async () => {
    const { ask } = await layered({
      home: "profiles: {p: {allow: ['*'], restrictions: {'file:write': {allowed_paths: [/srv/**]}}}}",
      project: "profiles: {p: {restrictions: {'file:write': {allowed_paths: [/srv/src/**, /opt/**]}}}}",
    });
    expect(ask(writes("/srv/src/a"), "p")).toBe("allow");
    expect(ask(writes("/srv/b"), "p")).toBe("deny");
    expect(ask(writes("/opt/a"), "p")).toBe("deny");
  });

  it("a project nobody trusts is not heard, and that is said", async () => {
    const { ask, messages } = await layered({ project: "global: {deny: ['*']}", trusted: false });
    expect(ask(reads("/srv/a"))).toBe("allow");
    expect(messages).toContain("not trusted");
  });
});

describe("what lists leave out", () => {
  it("follows the profile in force, and says why", async () => {
    const { runtime } = await testRuntime([], { builtins: true, flags: { profile: "readonly_research" } });
    const withheld = await offeringFor(runtime.config);
    const why = (name: string) => withheld?.(runtime.registry.get(name) ?? { name, permissions: [] });
    expect(why("read_file")).toBeUndefined();
    expect(why("terminal")).toBe("denied by profile:readonly_research/terminal:execute");
    // They read files, which is allowed, but not without running a program.
    for (const name of ["code_test", "code_debug", "execute_code", "repl"])
      expect(why(name)).toContain("denied by");
    expect(await offeringFor(runtime.config, "default")).toBeUndefined();
  });
});
