import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { hermes, hermesJson, json, outcomeOf, plainEnvironment, root, tempFolder } from "../cli/hermes.js";
import { hermesCommands } from "./doc-commands.js";
import { typed } from "./shell.js";

const home = tempFolder();
const files = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".ts"));
const tools = files.filter((name) => name !== "library.ts");

beforeAll(() => {
  const folder = join(home, "tools");
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  for (const name of tools) copyFileSync(join(root, "examples", name), join(folder, name));
  symlinkSync(join(root, "node_modules", "zod"), join(folder, "node_modules", "zod"));
});

describe("the examples, loaded as docs/authoring.md says", () => {
  it("are all named in docs/authoring.md", () => {
    const text = readFileSync(join(root, "docs", "authoring.md"), "utf8");
    for (const name of files) expect(text).toContain(`../examples/${name}`);
  });

  it("all become tools, and the doctor has nothing to say", async () => {
    const listed = await hermesJson<{ name: string; provenance: { kind: string; source?: string } }[]>(
      ["tools"],
      {
        home,
      },
    );
    const own = listed.filter(({ provenance }) => provenance.kind === "home");
    expect(new Set(own.map(({ provenance }) => provenance.source))).toEqual(
      new Set(tools.map((name) => join(home, "tools", name))),
    );
    expect(await hermesJson(["doctor"], { home })).toMatchObject({ ok: true });
  });

  it.each(hermesCommands("docs/authoring.md"))(
    "$line prints what the comment says",
    async ({ line, comment }) => {
      const done = await typed(line, { home, cwd: home });
      if (comment.startsWith("error: ")) {
        expect(done.stdout).toBe("");
        expect(done.stderr).toContain(comment.slice("error: ".length));
        expect(done.code).not.toBe(0);
      } else expect(done).toEqual({ code: 0, stdout: `${comment}\n`, stderr: "" });
    },
  );

  it("keep their state between the calls of one process", async () => {
    const call = (id: string, name: string, given: unknown) => ({ id, function: { name, arguments: given } });
    const stdin = JSON.stringify({
      tool_calls: [
        call("1", "count_up", {}),
        call("2", "count_up", { by: 4 }),
        call("3", "notes", { key: "milk", value: "oat" }),
        call("4", "notes", { key: "milk" }),
      ],
    });
    const done = await hermes(["run"], { home, stdin });
    const { tool_results } = json<{ tool_results: { content: unknown }[] }>(done);
    expect(tool_results.map(({ content }) => content)).toEqual([
      { status: "success", count: 1 },
      { status: "success", count: 5 },
      { status: "success", key: "milk", note: "oat" },
      { status: "success", key: "milk", note: "oat" },
    ]);
  });

  it("pass hermes tools check", async () => {
    for (const name of tools) {
      const file = join(home, "tools", name);
      const done = await hermes(["tools", "check", file, "--runs", "3", "--seed", "7"], { home });
      expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining("0 problems") });
    }
  });
});

describe("examples/library.ts", () => {
  it("runs in a program that has the package installed", async () => {
    const program = tempFolder();
    mkdirSync(join(program, "node_modules"));
    symlinkSync(root, join(program, "node_modules", "hermes-tools"));
    copyFileSync(join(root, "examples", "library.ts"), join(program, "library.mjs"));
    writeFileSync(
      join(program, "package.json"),
      '{\n  "name": "my-agent",\n  "private": true,\n  "main": "library.mjs"\n}\n',
    );
    const child = spawn(process.execPath, ["library.mjs"], {
      cwd: program,
      env: plainEnvironment(home),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const done = await outcomeOf(child);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    const [slept, read] = json<{ role: string; tool_call_id: string; content: string }[]>(done);
    expect(slept).toMatchObject({ role: "tool", tool_call_id: "a" });
    expect(read).toMatchObject({ role: "tool", tool_call_id: "b" });
    const page = JSON.parse(read?.content ?? "") as { content: string };
    expect(page.content).toContain('2|  "name": "my-agent"');
    expect(page.content).not.toContain('"main"');
  });
});
