import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Outcome, outcomeOf, plainEnvironment, root, tempFolder } from "../cli/hermes.js";
import { codeBlocks } from "../examples/doc-commands.js";

const CLONED = [
  "src",
  "scripts",
  "docs",
  "packaging",
  "web",
  ".npmrc",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.types.json",
  "README.md",
  "CHANGELOG.md",
  "LICENSE",
  "NOTICE",
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

let tarballMade: Promise<string> | undefined;

/** What `npm publish` would publish; made once. */
function packed(): Promise<string> {
  tarballMade ??= (async () => {
    const clone = freshClone();
    symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
    const { code, stderr } = await run("npm", ["pack", "--offline"], clone);
    expect(code, stderr).toBe(0);
    return join(clone, readdirSync(clone).find((name) => name.endsWith(".tgz")) ?? "");
  })();
  return tarballMade;
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
    const tarball = await packed();
    const program = tempFolder();
    const installed = join(program, "node_modules", "hermes-tools");
    mkdirSync(installed, { recursive: true });
    expect((await run("tar", ["xzf", tarball, "--strip", "1", "-C", installed], program)).code).toBe(0);
    // What npm would fetch: the packages it depends on, and no other.
    const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    for (const name of [...Object.keys(dependencies), "typescript", "undici-types"]) {
      const place = join(program, "node_modules", name);
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(join(root, "node_modules", name), place);
    }
    const [greet = "", library = "", agent = ""] = codeBlocks("README.md", "ts");
    const message = {
      role: "assistant",
      content: [{ type: "tool_use", id: "t1", name: "read_file", input: { path: "note.txt" } }],
    };
    writeFileSync(join(program, "note.txt"), "from the project\n");
    writeFileSync(join(program, "package.json"), '{ "type": "module" }');
    writeFileSync(join(program, "greet.ts"), greet);
    // It would ask a model, so it is only compiled.
    writeFileSync(join(program, "agent.ts"), agent);
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
      JSON.stringify({ compilerOptions, files: ["greet.ts", "library.ts", "agent.ts"] }),
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

describe("installed on a clean machine", () => {
  /** Nothing that compiles: Node, npm, a shell and what every system has. */
  const programs = tempFolder();
  for (const name of "node npm sh env mkdir mktemp mv ln rm readlink chmod sed uname id ls".split(" ")) {
    const found = (process.env.PATH ?? "").split(":").find((folder) => existsSync(join(folder, name)));
    if (found !== undefined) symlinkSync(join(found, name), join(programs, name));
  }
  // Where the registry is and whom to trust for it is this machine's affair, not the package's.
  const registry = Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(?:npm_config_(?:registry|cache|cafile)|NODE_EXTRA_CA_CERTS|https?_proxy|no_proxy)$/i.test(name),
    ),
  );
  const cache = execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).trim();
  const place = join(tempFolder(), "a place with blanks");
  const current = join(place, "current/node_modules/.bin/hermes");
  const upgrade = (what: string) => {
    const env = {
      ...plainEnvironment(tempFolder()),
      npm_config_cache: cache,
      npm_config_prefer_offline: "true",
      ...registry,
      PATH: programs,
    };
    // As administrators have it who leave nothing readable by accident.
    const words = ["-c", 'umask 077; exec "$0" "$@"', join(root, "packaging/upgrade"), place, what];
    return outcomeOf(spawn("sh", words, { env, stdio: ["ignore", "pipe", "pipe"] }));
  };

  /** By somebody who may not write where it is installed, where that is possible. */
  const asStranger = (args: readonly string[]) => {
    const folder = tempFolder();
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(folder, 65_534, 65_534);
    const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};
    const env = { ...plainEnvironment(folder), HERMES_HOME: join(folder, ".hermes"), PATH: programs };
    return outcomeOf(spawn(current, args, { cwd: folder, env, ...user, stdio: ["ignore", "pipe", "pipe"] }));
  };

  it("runs from a path with blanks that it may not write to, without a compiler", async () => {
    mkdirSync(place);
    chmodSync(dirname(place), 0o755);
    chmodSync(programs, 0o755);
    const installed = await upgrade(await packed());
    expect(installed.code, installed.stderr).toBe(0);
    const written = await asStranger(["call", "write_file", "path=note.txt", "content=kept", "--json"]);
    expect(written.stdout, written.stderr).toContain('"ok":true');
    const searched = await asStranger(["call", "search_files", "pattern=x", "--json"]);
    expect(searched.stdout, searched.stderr).toContain('"ok":true');
    const { stdout } = await asStranger(["doctor", "--json"]);
    const { findings } = JSON.parse(stdout) as { findings: readonly { level: string; message: string }[] };
    expect(findings.filter(({ level }) => level === "error")).toEqual([]);
  }, 300_000);

  it("a newer version comes beside it, one that does not install changes nothing, and there is a way back", async () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    const newer = join(tempFolder(), "newer.tgz");
    await repack(await packed(), newer, (text) =>
      text.replace(`"version": "${version}"`, '"version": "99.0.0"'),
    );
    expect((await upgrade(newer)).stdout).toContain(
      `current is versions/99.0.0 now (versions/${version} before)`,
    );
    expect(readdirSync(join(place, "versions")).sort()).toEqual([version, "99.0.0"].sort());

    writeFileSync(newer, "not a package");
    expect((await upgrade(newer)).code).not.toBe(0);
    expect(readdirSync(join(place, "versions")).sort()).toEqual([version, "99.0.0"].sort());
    expect(readlinkSync(join(place, "current"))).toBe("versions/99.0.0");

    expect((await upgrade("--back")).code).toBe(0);
    expect(readlinkSync(join(place, "current"))).toBe(`versions/${version}`);
    expect((await asStranger(["--version"])).stdout.trim()).toBe(version);

    rmSync(join(place, "versions/99.0.0"), { recursive: true });
    const gone = await upgrade("--back");
    expect(gone).toMatchObject({ code: 2, stderr: expect.stringContaining("versions/99.0.0 was removed") });
    expect(readlinkSync(join(place, "current"))).toBe(`versions/${version}`);
  }, 300_000);
});

/** The same package with another package.json. */
async function repack(from: string, to: string, change: (text: string) => string): Promise<void> {
  const folder = tempFolder();
  await run("tar", ["xzf", from, "-C", folder], folder);
  const file = join(folder, "package/package.json");
  writeFileSync(file, change(readFileSync(file, "utf8")));
  await run("tar", ["czf", to, "-C", folder, "package"], folder);
}
