import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { rulesBench, writes } from "../policy/support.js";
import { tempDir, testRuntime } from "../support/runtime.js";

/** A person who says yes to everything, in a home of their own. */
async function bench(env: Readonly<Record<string, string>> = {}) {
  const home = join(tempDir(), "home");
  const hermesHome = join(home, ".hermes");
  mkdirSync(hermesHome, { recursive: true });
  const { runtime, cwd } = await testRuntime([], {
    builtins: true,
    home: hermesHome,
    env: { PATH: process.env.PATH, HOME: home, ...env },
  });
  const asked: string[] = [];
  const session = await runtime.openSession({
    approver: {
      async ask(request) {
        asked.push(request.reason);
        return "once";
      },
    },
  });
  const at = (path: string) => (path.startsWith("~/") ? join(home, path.slice(2)) : join(cwd, path));
  const put = (path: string, content: string) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
  };
  return {
    home,
    cwd,
    asked,
    session,
    at,
    put,
    write: (path: string, more: object = {}) =>
      session.call({ name: "write_file", arguments: { path, content: "new", ...more } }),
    read: (path: string) => session.call({ name: "read_file", arguments: { path } }),
  };
}

describe("what is asked and answered with yes happens", () => {
  it.each([
    "~/.bashrc",
    "~/.ssh/config",
    "~/.config/heroku/token",
    "~/.hermes/config.yaml",
    ".git/hooks/pre-commit",
    ".env",
    ".vscode/tasks.json",
    "deploy/id_ed25519",
  ])("writing %s", async (path) => {
    const { write, asked, at } = await bench();
    expect(await write(path)).toMatchObject({ ok: true });
    expect(asked).toHaveLength(1);
    expect(readFileSync(at(path), "utf8")).toBe("new");
  });

  it.each(["~/.ssh/id_rsa", "~/.aws/credentials", "~/.gemini/oauth_creds.json", "deploy/server.key"])(
    "reading %s",
    async (path) => {
      const { read, put, asked } = await bench();
      put(path, "the key\n");
      expect(JSON.stringify(await read(path))).toContain("the key");
      expect(asked).toHaveLength(1);
    },
  );

  it("variables of a .env file are listed with their secrets masked", async () => {
    const { session, put, asked } = await bench();
    put(".env", "API_KEY=sk-very-secret-value\nPORT=80\n");
    const listed = await session.call({
      name: "env_manager",
      arguments: { action: "list", scope: "file", file: ".env" },
    });
    expect(listed).toMatchObject({ ok: true });
    expect(JSON.stringify(listed)).not.toContain("sk-very-secret-value");
    expect(asked).toHaveLength(1);
  });
});

describe("what is denied is denied before anybody is asked", () => {
  it.each([
    "~/.ssh/id_ed25519",
    "~/.ssh/authorized_keys",
    "~/.aws/credentials",
    "~/.config/gh/hosts.yml",
    "~/.config/gcloud/x",
    "~/.netrc",
    "~/.npmrc",
    "~/.git-credentials",
    "~/.kube/config",
    "~/.SSH/config.d/x",
    "~/x/../.ssh/id_rsa",
    "~/.hermes/.env",
    "~/.hermes/state.db",
    "~/.hermes/server.token",
    "~/.hermes/mcp-tokens/x.json",
    "~/.hermes/sessions/s.json",
    "~/.hermes/profiles/work/.env",
  ])("writing %s", async (path) => {
    const { write, asked, at, session } = await bench();
    const explained = await session.explainCall({ name: "write_file", arguments: { path, content: "x" } });
    expect(explained.decision?.verdict).toBe("deny");
    expect(await write(path, { cross_profile: true })).toMatchObject({
      ok: false,
      error: { code: "denied" },
    });
    expect(asked).toEqual([]);
    expect(existsSync(at(path)) && readFileSync(at(path), "utf8") === "new").toBe(false);
  });

  it.each(["/etc/passwd", "/etc/shadow", "/etc/sudoers.d/me", "/etc/systemd/system/x.service"])(
    "writing %s",
    async (path) => {
      // Only judged, never called: a mistake here would change the machine that runs the tests.
      const { ask } = await rulesBench("");
      expect(ask({ effects: [writes(path)] })).toMatchObject({
        verdict: "deny",
        rule: "file.write-protected",
      });
    },
  );

  it.each([
    ".env",
    "deep/.env.production",
    ".envrc",
    "~/.hermes/server.token",
    "~/.hermes/mcp-tokens/a.json",
  ])("reading %s", async (path) => {
    const { read, put, asked } = await bench();
    put(path, "SECRET=1\n");
    const result = await read(path);
    expect(result).toMatchObject({ ok: false, error: { code: "denied" } });
    expect(JSON.stringify(result)).not.toContain("SECRET=1");
    expect(asked).toEqual([]);
  });

  it("an example file may be read, a link to a file of secrets may not", async () => {
    const { read, put, at, asked } = await bench();
    put(".env", "SECRET=1\n");
    put(".env.example", "SECRET=\n");
    symlinkSync(at(".env"), at("notes.txt"));
    expect(await read(".env.example")).toMatchObject({ ok: true });
    expect(await read("notes.txt")).toMatchObject({ ok: false, error: { code: "denied" } });
    expect(asked).toEqual([]);
  });

  it.each([
    ["replaces text", { path: ".env", old_string: "1", new_string: "2" }],
    [
      "changes lines",
      {
        mode: "patch",
        patch: "*** Begin Patch\n*** Update File: .env\n@@\n-SECRET=1\n+SECRET=2\n*** End Patch",
      },
    ],
    ["deletes", { mode: "patch", patch: "*** Begin Patch\n*** Delete File: .env\n*** End Patch" }],
  ])("a patch that %s in a file nobody may see", async (_, args) => {
    const { session, put, asked, at } = await bench();
    put(".env", "SECRET=1\n");
    expect(await session.call({ name: "patch", arguments: args })).toMatchObject({
      error: { code: "denied" },
    });
    expect(asked).toEqual([]);
    expect(readFileSync(at(".env"), "utf8")).toBe("SECRET=1\n");
  });

  it.each([
    ["file_compress", { action: "compress", paths: [".env"], archive: "e.zip" }],
    ["file_diff", { a: ".env", b: "f.txt" }],
    ["file_diff", { a: "HEAD:.env", b: "f.txt" }],
    ["search_files", { pattern: "SECRET", path: ".env" }],
  ])("%s of a file nobody may see: %j", async (name, args) => {
    const { session, put, asked, at } = await bench();
    put(".env", "SECRET=1\n");
    put("f.txt", "x\n");
    expect(await session.call({ name, arguments: args })).toMatchObject({ error: { code: "denied" } });
    expect(asked).toEqual([]);
    expect(existsSync(at("e.zip"))).toBe(false);
  });

  it("a link into a protected folder, dangling or not", async () => {
    const { write, home, at } = await bench();
    mkdirSync(join(home, ".ssh"));
    symlinkSync(join(home, ".ssh"), at("keys"));
    symlinkSync(join(home, ".ssh/new_key"), at("notes.txt"));
    expect(await write("keys/id_rsa")).toMatchObject({ error: { code: "denied" } });
    expect(await write("notes.txt")).toMatchObject({ error: { code: "denied" } });
    expect(readdirSync(join(home, ".ssh"))).toEqual([]);
  });

  it("the target of a protected folder that is itself a link", async () => {
    const { write, home, at, asked } = await bench();
    mkdirSync(at("vault"));
    expect(await write("vault/free")).toMatchObject({ ok: true });
    symlinkSync(at("vault"), join(home, ".ssh"));
    expect(await write("vault/id_rsa")).toMatchObject({ error: { code: "denied" } });
    expect(asked).toEqual([]);
  });

  it("another profile's folder, unless the call says that it is meant: then a person is asked", async () => {
    const { write, asked, at } = await bench();
    const path = "~/.hermes/profiles/work/notes.md";
    const refused = await write(path);
    expect(refused).toMatchObject({ error: { code: "denied" } });
    expect(JSON.stringify(refused)).toContain("cross_profile");
    expect(asked).toEqual([]);
    expect(await write(path, { cross_profile: true })).toMatchObject({ ok: true });
    expect(asked).toHaveLength(1);
    expect(readFileSync(at(path), "utf8")).toBe("new");
  });

  it("whatever lies outside the safe roots, links included", async () => {
    const folder = tempDir();
    const roots = [join(folder, "safe"), join(folder, "other")];
    const { write, home } = await bench({ HERMES_WRITE_SAFE_ROOT: roots.join(delimiter) });
    mkdirSync(join(folder, "safe"));
    symlinkSync(home, join(folder, "safe/out"));
    for (const path of ["safe/a.txt", "other/a.txt"]) {
      expect(await write(join(folder, path))).toMatchObject({ ok: true });
    }
    for (const path of ["a.txt", "safe-not/a.txt", "safe/../a.txt", "safe/out/a.txt"]) {
      expect(JSON.stringify(await write(join(folder, path)))).toContain("outside the folders where writing");
    }
  });
});

describe("ordinary files", () => {
  it.each(["~/.sshnotes", "project/.npmrc", ".env.example"])(
    "%s is only a name that begins alike",
    async (path) => {
      const { write } = await bench();
      expect(await write(path)).toMatchObject({ ok: true });
    },
  );
});

it("whether paths are this machine's is told by the kind of the environment, not by its name", async () => {
  const { ask, cwd } = await rulesBench("");
  mkdirSync(join(cwd, ".git"));
  symlinkSync(".git/hooks", join(cwd, "docs"));
  const effects = [writes(join(cwd, "docs/pre-commit"))];
  const named = { effects, environment: "docker-on-this-disk" };
  expect(ask({ ...named, environmentKind: "local" }).rule).toBe("file.write-protected");
  expect(ask({ ...named, environmentKind: "docker" }).verdict).toBe("allow");
});
