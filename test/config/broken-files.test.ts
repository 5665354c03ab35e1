import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatProblem } from "../../src/config/types.js";
import { errorsOf, sandbox } from "./sandbox.js";

const GOOD = [
  "# my settings",
  "approvals:",
  "  mode: smart",
  "  deny:",
  "    - curl *",
  "    - git push *",
  "terminal:",
  "  timeout: 90",
  "tools:",
  "  disabled: [terminal]",
  "",
].join("\n");

function fixture(name: string): Buffer {
  return readFileSync(join(import.meta.dirname, "..", "fixtures", "config", name));
}

const BROKEN: [what: string, text: string | Uint8Array, line: number, message: RegExp][] = [
  ["unfinished list", "terminal:\n  timeout: [1, 2\n", 3, /YAML syntax/],
  ["tab indentation", fixture("tabs.yaml"), 3, /tabs/],
  ["duplicate keys", fixture("duplicate-keys.yaml"), 4, /twice/],
  ["alias bomb", fixture("alias-bomb.yaml"), 3, /aliases expand/],
  ["alias of itself", "tool_settings: &a\n  x: *a\n", 2, /too deeply/],
  ["alias without anchor", "tools:\n  disabled: *nowhere\n", 2, /\*nowhere has no anchor/],
  ["list at the root", "- a\n- b\n", 1, /must be a map/],
  ["text at the root", "just words\n", 1, /must be a map/],
  ["two documents", "tools: {}\n---\ntools: {}\n", 2, /more than one/],
  ["a collection as key", "? [a, b]\n: 1\n", 1, /plain text/],
  ["control characters", "tools: {}\n\u0000\u0000\n", 2, /control characters/],
  ["not UTF-8", new Uint8Array([0x61, 0x3a, 0x20, 0xff, 0xfe]), 1, /UTF-8/],
  ["deep brackets", `a: ${"[".repeat(100_000)}`, 1, /too deeply/],
  ["deep dashes", `${"- ".repeat(20_000)}x\n`, 1, /too deeply|parsed/],
  ["too large", `# ${"x".repeat(600_000)}\n`, 1, /larger than/],
];

describe("a broken file", () => {
  it.each(BROKEN)(
    "%s: the last good version stays in force and the line is named",
    async (_, text, line, message) => {
      using box = sandbox();
      const file = box.write("home/config.yaml", GOOD);
      const good = await box.load();
      box.write("home/config.yaml", text);
      const loaded = await box.load();
      expect(loaded.values).toEqual(good.values);
      expect(loaded.origin("terminal.timeout")).toMatchObject({
        source: "home",
        file,
        line: 8,
        lastGood: true,
      });
      expect(loaded.files).toMatchObject([{ path: file, state: "last-good" }]);
      expect(errorsOf(loaded)).toMatchObject([{ file, line, message: expect.stringMatching(message) }]);
      expect(
        formatProblem(loaded.problems[0] ?? { severity: "error", source: "home", message: "" }),
      ).toContain("last good");
      expect(loaded.policyIncomplete).toBe(false);
      // And it stays so: reading a broken file must not spoil the copy.
      expect((await box.load()).values).toEqual(good.values);
    },
  );

  it.each(BROKEN)(
    "%s: without a good version strict defaults apply, also over a looser file below",
    async (_, text) => {
      using box = sandbox();
      box.write("etc/config.yaml", "approvals: { mode: off }\ncommand_allowlist: ['*']\ntoolsets: [web]\n");
      box.write("home/config.yaml", text);
      const loaded = await box.load();
      expect(loaded.values).toMatchObject({ approvals: { mode: "manual" }, command_allowlist: [] });
      expect(loaded.values.toolsets).toEqual(["web"]);
      expect(loaded.policyIncomplete).toBe(true);
      expect(loaded.files.map((file) => file.state)).toEqual(["read", "broken"]);
    },
  );

  it("cut off at any byte, the policy is never looser than the whole file", async () => {
    using box = sandbox();
    box.write("home/config.yaml", GOOD);
    await box.load();
    for (let end = 0; end < GOOD.length; end++) {
      box.write("home/config.yaml", GOOD.slice(0, end));
      const { values, files } = await box.load();
      const cutAtLineEnd = GOOD[end - 1] === "\n";
      // A file cut exactly between two lines is what deleting the last lines in an editor looks like.
      if (cutAtLineEnd) break;
      expect(files[0]?.state, `cut at ${end}`).toBe("last-good");
      expect(values.approvals.deny, `cut at ${end}`).toEqual(["curl *", "git push *"]);
      expect(values.tools.disabled, `cut at ${end}`).toEqual(["terminal"]);
      expect(values.approvals.mode, `cut at ${end}`).not.toBe("off");
    }
  });

  it("new restrictions that can be made out in it count at once", async () => {
    using box = sandbox();
    box.write("home/config.yaml", "approvals:\n  mode: off\ntools:\n  disabled: [a]\n");
    await box.load();
    box.write(
      "home/config.yaml",
      "approvals:\n  mode: manual\n  deny: [curl *]\ntools:\n  disabled: [b]\nserver: {port: [}\n",
    );
    const { values } = await box.load();
    expect(values.approvals).toMatchObject({ mode: "manual", deny: ["curl *"] });
    expect(values.tools.disabled).toEqual(["a", "b"]);
  });

  it("a rule written twice counts in its stricter form", async () => {
    using box = sandbox();
    for (const modes of [
      ["manual", "off"],
      ["off", "manual"],
    ]) {
      box.write("home/config.yaml", "approvals: { mode: off }\n");
      await box.load();
      box.write(
        "home/config.yaml",
        modes.map((mode) => `approvals: { mode: ${mode}, deny: [${mode}] }\n`).join(""),
      );
      const { values } = await box.load();
      expect(values.approvals.mode).toBe("manual");
      expect(values.approvals.deny.toSorted()).toEqual(["manual", "off"]);
    }
  });

  it("and what it would loosen does not", async () => {
    using box = sandbox();
    box.write("home/config.yaml", "approvals:\n  mode: smart\ncommand_allowlist: [ls]\n");
    await box.load();
    box.write("home/config.yaml", "approvals:\n  mode: off\ncommand_allowlist: [ls, 'rm *']\nx: [\n");
    const { values } = await box.load();
    expect(values.approvals.mode).toBe("smart");
    expect(values.command_allowlist).toEqual(["ls"]);
  });

  it("emptied by a crash it keeps its settings; a file of comments is a decision", async () => {
    using box = sandbox();
    box.write("home/config.yaml", GOOD);
    await box.load();
    for (const text of ["", "\n\n"]) {
      box.write("home/config.yaml", text);
      expect((await box.load()).values.tools.disabled).toEqual(["terminal"]);
    }
    box.write("home/config.yaml", "# nothing set\n");
    const loaded = await box.load();
    expect(loaded.values.tools.disabled).toEqual([]);
    expect(loaded.problems).toEqual([]);
  });

  it("a misspelt rule keeps its old value until it is spelt right", async () => {
    using box = sandbox();
    box.write("home/config.yaml", GOOD);
    await box.load();
    box.write("home/config.yaml", GOOD.replace("deny:", "denny:").replace("90", "80"));
    const loaded = await box.load();
    expect(loaded.values.approvals.deny).toEqual(["curl *", "git push *"]);
    expect(loaded.values.terminal.timeout).toBe(80);
    expect(errorsOf(loaded)).toMatchObject([{ line: 4, key: "approvals.denny" }]);
  });

  it("of the machine's managed settings cannot be used to escape them", async () => {
    using box = sandbox();
    box.write("etc/managed.yaml", "approvals: { mode: [\n");
    const loaded = await box.load({ flags: { yolo: true } });
    expect(loaded.values.approvals.mode).toBe("manual");
    expect(loaded.policyIncomplete).toBe(true);
  });

  it("a folder or unreadable thing in its place is a problem, not a crash", async () => {
    using box = sandbox();
    box.write("home/config.yaml/oops", "");
    const loaded = await box.load();
    expect(errorsOf(loaded)).toMatchObject([{ message: expect.stringContaining("not a regular file") }]);
  });

  it("BOM and Windows line ends are no faults, and lines are still counted right", async () => {
    using box = sandbox();
    box.write("home/config.yaml", fixture("bom-crlf.yaml"));
    const loaded = await box.load();
    expect(loaded.values.terminal.timeout).toBe(45);
    expect(loaded.origin("terminal.timeout").line).toBe(3);
    expect(errorsOf(loaded)).toMatchObject([{ line: 4, column: 3, key: "terminal.tmeout" }]);
  });

  it("copies of good versions are private", async () => {
    using box = sandbox();
    box.write("home/config.yaml", GOOD);
    const { paths } = await box.load();
    const { statSync } = await import("node:fs");
    const [copy = ""] = readdirSync(paths.lastGood);
    expect(statSync(join(paths.lastGood, copy)).mode & 0o077).toBe(0);
  });
});
