import { describe, expect, it } from "vitest";
import { createPolicy } from "../../src/policy/engine.js";
import { Entry } from "../../src/registry/entry.js";

const entry = Entry.fromTool(
  {
    name: "terminal",
    toolset: "terminal",
    description: "",
    parameters: {},
    permissions: [],
    handler: () => "x",
  },
  { kind: "builtin" },
);

function verdictOn(command: string, allowCommands: readonly string[], denyCommands: readonly string[] = []) {
  return createPolicy({ hermesHome: "/nowhere", allowCommands, denyCommands }).decide({
    entry,
    args: {},
    effects: [{ action: "terminal:execute", resource: command, mode: "execute" }],
    session: { id: "s", profile: "default", cwd: "/tmp" },
    environment: "local",
    home: "/home/nobody",
  }).verdict;
}

describe("command_allowlist", () => {
  it("covers a command by its exact text, by a glob, or by the kind of danger", () => {
    expect(verdictOn("rm -rf build", [])).toBe("ask");
    expect(verdictOn("rm -rf build", ["rm -rf build"])).toBe("allow");
    expect(verdictOn("rm -rf build/a", ["rm -rf build*"])).toBe("allow");
    expect(verdictOn("rm -rf anything", ["recursive delete"])).toBe("allow");
    expect(verdictOn("git push --force", ["recursive delete", "rm -rf *"])).toBe("ask");
  });

  it("a glob never covers more than one simple command", () => {
    for (const command of [
      "rm -rf build; rm -rf src",
      "rm -rf build && git push -f",
      "rm -rf $(cat list)",
      "rm -rf build > log",
    ]) {
      expect(verdictOn(command, ["rm -rf build*", "rm -rf *"]), command).toBe("ask");
    }
  });

  it("never beats a denial or the hardline", () => {
    expect(verdictOn("rm -rf build", ["rm -rf build"], ["rm *"])).toBe("deny");
    expect(verdictOn("rm -rf /", ["rm -rf /", "*", "recursive delete"])).toBe("deny");
  });
});
