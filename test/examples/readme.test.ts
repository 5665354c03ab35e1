import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { outcomeOf, plainEnvironment, root, tempFolder } from "../cli/hermes.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { codeBlocks, hermesCommands } from "./doc-commands.js";
import { typed } from "./shell.js";

const home = tempFolder();
const commands = hermesCommands("README.md");
const [greet = "", library = "", agent = ""] = codeBlocks("README.md", "ts");

beforeAll(() => {
  mkdirSync(join(home, "tools"));
  writeFileSync(join(home, "tools", "greet.ts"), greet);
});

/** The exit code that a comment announces. */
function announced(comment: string): number {
  return /\bdenied\b/.test(comment) ? 5 : 0;
}

/** The server that `npx` would fetch is among the programs the tests have. */
function withLocalPeers(line: string): string {
  return line.replace(/npx -y (\S+)/, (_, name: string) => {
    const program = join(root, "test", "peers", "node_modules", name, "dist", "index.js");
    return `"${process.execPath}" "${program}"`;
  });
}

describe("the README", () => {
  it("shows the whole first minute", () => {
    expect(commands.map(({ line }) => line)).toEqual(
      expect.arrayContaining(["hermes", "hermes tools", "hermes doctor", "hermes call greet who=Ada"]),
    );
  });

  it.each(commands)("$line does what its comment says", async ({ line, comment }) => {
    const done = await typed(withLocalPeers(line), { home, cwd: root });
    expect(done.code, done.stderr).toBe(announced(comment));
    if (done.code === 0) expect(done.stdout).not.toBe("");
    else expect(done).toMatchObject({ stdout: "", stderr: expect.stringContaining("error:") });
  });

  it("its own tool greets", async () => {
    expect(greet).toContain('name: "greet"');
    const done = await typed("hermes call greet who=Ada", { home, cwd: home });
    expect(done).toEqual({ code: 0, stdout: "Hello, Ada!\n", stderr: "" });
  });

  it("its library lines run as they stand", async () => {
    const program = tempFolder();
    mkdirSync(join(program, "node_modules"));
    symlinkSync(root, join(program, "node_modules", "hermes-tools"));
    writeFileSync(join(program, "note.txt"), "from the project\n");
    const message = {
      role: "assistant",
      content: [{ type: "tool_use", id: "t1", name: "read_file", input: { path: "note.txt" } }],
    };
    writeFileSync(
      join(program, "library.mjs"),
      `const messageFromTheModel = ${JSON.stringify(message)};
       ${library.replace('"/my/project"', JSON.stringify(program))}
       console.log(JSON.stringify({ tools: tools.length, answer }));`,
    );
    const child = spawn(process.execPath, ["library.mjs"], {
      cwd: program,
      env: plainEnvironment(home),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const done = await outcomeOf(child);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    const { tools, answer } = JSON.parse(done.stdout) as { tools: number; answer: unknown };
    expect(tools).toBeGreaterThan(3);
    expect(answer).toMatchObject({
      role: "user",
      content: [{ tool_use_id: "t1", content: expect.stringContaining("from the project") }],
    });
  });

  it("its agent of ten lines runs as it stands", async () => {
    expect(agent.split("\n").filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(10);
    const server = await startScriptedModel({
      steps: [
        { calls: [{ id: "w", name: "write_file", arguments: { path: "haiku.txt", content: "old pond" } }] },
        { text: "A frog jumped in." },
      ],
    });
    const program = tempFolder();
    mkdirSync(join(program, "node_modules"));
    symlinkSync(root, join(program, "node_modules", "hermes-tools"));
    writeFileSync(join(program, "agent.mjs"), agent);
    const child = spawn(process.execPath, ["agent.mjs"], {
      cwd: program,
      env: { ...plainEnvironment(home), OPENAI_API_KEY: "key", OPENAI_BASE_URL: server.url },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const done = await outcomeOf(child);
    await server.close();
    expect(done).toMatchObject({ code: 0, stdout: "A frog jumped in.", stderr: "" });
    expect(readFileSync(join(program, "haiku.txt"), "utf8")).toBe("old pond");
  });
});
