import { describe, expect, it } from "vitest";
import { allowlistFrom } from "../../src/policy/grants/config-grants.js";
import { errorsOf, sandbox } from "../config/sandbox.js";
import { danger, questionAbout, whereabouts } from "./segments.js";

describe("command_allowlist in config.yaml", () => {
  it("takes texts and grants, a single text as a list of one", async () => {
    using box = sandbox();
    box.write(
      "home/config.yaml",
      `command_allowlist:
  - git push *
  - { command: rm -rf build, scope: ~/app, added: 2030-01-01, expires: 2031-01-01T10:00:00Z, max_uses: 3 }
  - pattern: rm -rf tmp-*
    origin: by hand
    scope: environment:docker
  - rule: recursive-delete
`,
    );
    const loaded = await box.load();
    expect(loaded.problems).toEqual([]);
    expect(loaded.values.command_allowlist).toEqual([
      "git push *",
      {
        command: "rm -rf build",
        scope: "~/app",
        added: "2030-01-01",
        expires: "2031-01-01T10:00:00Z",
        max_uses: 3,
      },
      { pattern: "rm -rf tmp-*", scope: "environment:docker", origin: "by hand" },
      { rule: "recursive-delete" },
    ]);
    box.write("home/config.yaml", "command_allowlist: git push -f\n");
    expect((await box.load()).values.command_allowlist).toEqual(["git push -f"]);
  });

  it("what is malformed is left out with its file and line, and the rest counts", async () => {
    using box = sandbox();
    const file = box.write(
      "home/config.yaml",
      `command_allowlist:
  - rm -rf a
  - 7
  - []
  - ""
  - comand: rm -rf b
  - { command: rm -rf b, expire: 2030-01-01 }
  - { command: rm -rf b, rule: x }
  - { scope: /srv }
  - { command: rm -rf b, expires: soon }
  - { command: rm -rf b, expires: 2030-13-45 }
  - { command: rm -rf b, max_uses: 0 }
  - { command: rm -rf b, max_uses: many }
  - { command: rm -rf b, scope: app }
  - { command: "", scope: /srv }
  - { command: [rm], scope: /srv }
  - rm -rf c
`,
    );
    const loaded = await box.load();
    expect(loaded.values.command_allowlist).toEqual(["rm -rf a", "rm -rf c"]);
    expect(errorsOf(loaded).map((problem) => [problem.file, problem.line])).toEqual(
      [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16].map((line) => [file, line]),
    );
    const hints = errorsOf(loaded).map((problem) => `${problem.message} ${problem.hint}`);
    expect(hints[3]).toContain('did you mean "command"?');
    expect(hints[4]).toContain('did you mean "expires"?');
    for (const hint of hints) expect(hint).toContain("the entry is not used");
    // Without grants there is more to ask; nothing that was forbidden is missing.
    expect(loaded.policyIncomplete).toBe(false);
  });

  it("patterns without a bound get a warning where they stand", async () => {
    using box = sandbox();
    const file = box.write(
      "home/config.yaml",
      "command_allowlist:\n  - rm -rf build\n  - python *\n  - { pattern: sudo * }\n",
    );
    const loaded = await box.load();
    expect(loaded.problems).toMatchObject([
      { severity: "warning", file, line: 3, message: expect.stringContaining('"python *"') },
      { severity: "warning", file, line: 4, message: expect.stringContaining('"sudo *"') },
    ]);
  });

  it("a project may only choose among the grants that are there, whole as they are", async () => {
    using box = sandbox();
    box.trustProject();
    const limited = "{ command: rm -rf a, expires: 2030-01-01 }";
    box.write("home/config.yaml", `command_allowlist: [${limited}, b]\n`);
    box.write("project/.hermes/config.yaml", `command_allowlist: [${limited}, { command: rm -rf a }, c]\n`);
    const loaded = await box.load();
    expect(loaded.values.command_allowlist).toEqual([{ command: "rm -rf a", expires: "2030-01-01" }]);
    expect(loaded.problems).toMatchObject([{ severity: "warning", source: "project" }]);
  });

  it("grants that somebody took out are gone, also when something else in the file is wrong", async () => {
    using box = sandbox();
    box.write("home/config.yaml", "command_allowlist: [rm -rf a]\napprovals: { deny: [x] }\n");
    await box.load();
    box.write("home/config.yaml", "log: { levle: info }\n");
    const { values } = await box.load();
    expect([values.command_allowlist, values.approvals.deny]).toEqual([[], ["x"]]);
  });

  it("each grant knows where it is written", async () => {
    using box = sandbox();
    const file = box.write(
      "home/config.yaml",
      "command_allowlist:\n  - a\n  - command: rm -rf x.y\n    added: 2030-01-01\n",
    );
    const list = allowlistFrom(await box.load());
    expect(list.covering(danger("rm -rf x.y"), whereabouts("rm -rf x.y"))).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      file,
      line: 3,
    });
  });

  it("where an administrator has set the list, nothing can be added to it", async () => {
    using box = sandbox();
    const file = box.write("etc/managed.yaml", "command_allowlist: [rm -rf a]\n");
    const list = allowlistFrom(await box.load());
    const segment = danger("rm -rf b");
    await expect(list.remember(["rm -rf b"], questionAbout([segment]))).rejects.toThrow(file);
    expect(list.covering(segment, whereabouts("rm -rf b"))).toBeUndefined();
  });
});
