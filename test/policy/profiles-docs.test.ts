import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root, tempFolder } from "../cli/hermes.js";
import { codeBlocks, hermesCommands } from "../examples/doc-commands.js";
import { typed } from "../examples/shell.js";
import { fetches, rulesBench, runs, writes } from "./support.js";

const home = tempFolder();

describe("docs/permissions.md", () => {
  it.each(hermesCommands("docs/permissions.md"))(
    "$line does what its comment says",
    async ({ line, comment }) => {
      const done = await typed(line, { home, cwd: home });
      expect(done).toMatchObject({ code: 0, stderr: "" });
      if (comment.startsWith("{")) expect(done.stdout).toBe(`${comment}\n`);
      else expect(done.stdout).not.toBe("");
    },
  );

  it("its rules load as they stand and mean what the text says", async () => {
    const [yaml = ""] = codeBlocks("docs/permissions.md", "yaml");
    const { table, ask } = await rulesBench(yaml);
    expect(table.problems).toEqual([]);
    const verdict = (effect: ReturnType<typeof runs>, profile = "my_project") =>
      ask({ profile, effects: [effect] }).verdict;
    expect(verdict(writes("/workspace/a"))).toBe("allow");
    expect(verdict(writes("/home/nobody/projects/a"))).toBe("allow");
    expect(verdict(writes("/home/nobody/projects/k.PEM"))).toBe("deny");
    expect(verdict(writes("/srv/a"))).toBe("deny");
    expect(verdict(runs("ls | /usr/bin/sudo tee x"))).toBe("deny");
    expect(verdict(fetches("https://api.example.com/"))).toBe("allow");
    expect(verdict(fetches("https://example.org/"))).toBe("deny");
    expect(verdict(writes("/tmp/a"), "careful")).toBe("ask");
    expect(verdict(runs("ls"), "careful")).toBe("deny");
    expect(ask({ profile: "careful", tool: "terminal", effects: [runs("ls")] }).verdict).toBe("ask");
    const post = {
      tool: "http_request",
      args: { method: "POST" },
      effects: [fetches("https://example.com/")],
    };
    expect(ask(post).verdict).toBe("deny");
  });

  it("the table of built-in profiles is the list of them", async () => {
    const { table } = await rulesBench("");
    const text = readFileSync(join(root, "docs/permissions.md"), "utf8");
    const [, section = ""] = /^## Profiles that are always there$(.*?)^## /ms.exec(text) ?? [];
    const listed = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(listed).toEqual(table.profiles.map(({ name }) => name));
  });
});
