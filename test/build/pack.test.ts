import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Outcome, outcomeOf, plainEnvironment, root, tempFolder } from "../cli/hermes.js";
import { codeBlocks } from "../examples/doc-commands.js";

const CLONED = [
  "src",
  "scripts",
  "docs",
  ".npmrc",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.types.json",
  "README.md",
  "CHANGELOG.md",
  "LICENSE",
];

/** What a clone holds, before anything is installed or built. */
function freshClone(): string {
  const clone = tempFolder();
  for (const name of CLONED) cpSync(join(root, name), join(clone, name), { recursive: true });
  return clone;
}

function run(program: string, args: readonly string[], cwd: string): Promise<Outcome> {
  const child = spawn(program, args, { cwd, env: plainEnvironment(cwd), stdio: ["ignore", "pipe", "pipe"] });
  return outcomeOf(child);
}

describe("npm pack from a fresh clone", () => {
  it("fails when it cannot build", async () => {
    const clone = freshClone();
    const packed = await run("npm", ["pack", "--offline"], clone);
    expect(packed.code).not.toBe(0);
    expect(packed.stderr).toContain("Build failed");
    expect(readdirSync(clone).filter((name) => name.endsWith(".tgz"))).toEqual([]);
  }, 60_000);

  it("builds; installed elsewhere the README's lines compile with every type checked, and run", async () => {
    const clone = freshClone();
    symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
    const packed = await run("npm", ["pack", "--offline"], clone);
    expect(packed.code, packed.stderr).toBe(0);
    const tarball = readdirSync(clone).find((name) => name.endsWith(".tgz")) ?? "";

    const program = tempFolder();
    const installed = join(program, "node_modules", "hermes-tools");
    mkdirSync(installed, { recursive: true });
    expect(
      (await run("tar", ["xzf", join(clone, tarball), "--strip", "1", "-C", installed], program)).code,
    ).toBe(0);
    // What npm would fetch: the packages it depends on, and no other.
    const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    for (const name of [...Object.keys(dependencies), "typescript", "undici-types"]) {
      const place = join(program, "node_modules", name);
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(join(root, "node_modules", name), place);
    }
    const [greet = "", library = ""] = codeBlocks("README.md", "ts");
    const message = {
      role: "assistant",
      content: [{ type: "tool_use", id: "t1", name: "read_file", input: { path: "note.txt" } }],
    };
    writeFileSync(join(program, "note.txt"), "from the project\n");
    writeFileSync(join(program, "package.json"), '{ "type": "module" }');
    writeFileSync(join(program, "greet.ts"), greet);
    writeFileSync(
      join(program, "library.ts"),
      `const messageFromTheModel: unknown = ${JSON.stringify(message)};\n${library.replace('"/my/project"', JSON.stringify(program))}\nprocess.stdout.write(JSON.stringify({ tools: tools.length, answer }));\n`,
    );
    const compilerOptions = {
      module: "NodeNext",
      target: "ES2022",
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      preserveSymlinks: true,
    };
    writeFileSync(
      join(program, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["greet.ts", "library.ts"] }),
    );
    const compiled = await run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "."], program);
    expect(compiled).toEqual({ code: 0, stdout: "", stderr: "" });
    const done = await run(process.execPath, ["library.js"], program);
    expect(done, done.stderr).toMatchObject({ code: 0 });
    expect(done.stdout).toContain("from the project");
    const version = await run(process.execPath, [join(installed, "dist/cli/main.js"), "--version"], program);
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+/);
  }, 300_000);
});
