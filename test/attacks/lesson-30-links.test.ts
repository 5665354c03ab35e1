import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Approver, CallRequest } from "../../src/index.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";
import { RACE_SECONDS, startSwapper } from "../support/swapper.js";

/**
 * A workspace that does not lie in the temporary folder, which is free for everybody: else nothing would be
 * "outside". The folder for temporary files is moved aside, because this clone itself may lie in the usual one.
 */
function workspaceOutsideTmp(): string {
  const folder = mkdtempSync(join(tmpdir(), "hermes-links-"));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = join(folder, "tmp");
  mkdirSync(process.env.TMPDIR);
  onTestEnd(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

async function bench() {
  const root = workspaceOutsideTmp();
  const cwd = join(root, "workspace");
  const outside = join(root, "outside");
  mkdirSync(cwd);
  mkdirSync(outside);
  const asked: string[] = [];
  const { runtime, home } = await testRuntime([], { builtins: true, cwd });
  const approver: Approver = {
    async ask(request) {
      asked.push(request.reason);
      return "deny";
    },
  };
  const session = await runtime.openSession({ approver });
  return { cwd, outside, asked, session, runtime, home };
}

/** Each tool's way of writing "evil" to a path. */
const writers: [string, (path: string) => { name: string; arguments: unknown }][] = [
  ["write_file", (path) => ({ name: "write_file", arguments: { path, content: "evil" } })],
  [
    "patch (add)",
    (path) => ({
      name: "patch",
      arguments: { mode: "patch", patch: `*** Begin Patch\n*** Add File: ${path}\n+evil\n*** End Patch` },
    }),
  ],
  [
    "patch (move)",
    (path) => ({
      name: "patch",
      arguments: {
        mode: "patch",
        patch: `*** Begin Patch\n*** Update File: harmless.txt\n*** Move to: ${path}\n@@\n-a\n+evil\n*** End Patch`,
      },
    }),
  ],
];

describe("lesson 30: no link leads a write out of the workspace unasked", () => {
  describe.each(writers)("%s", (_tool, write) => {
    it.each<[string, (place: { cwd: string; outside: string }) => { path: string; target: string }]>([
      [
        "a link to a folder outside",
        ({ cwd, outside }) => {
          symlinkSync(outside, join(cwd, "door"));
          return { path: "door/new.txt", target: join(outside, "new.txt") };
        },
      ],
      [
        "a link to a file that does not exist yet",
        ({ cwd, outside }) => {
          symlinkSync(join(outside, "new.txt"), join(cwd, "innocent.txt"));
          return { path: "innocent.txt", target: join(outside, "new.txt") };
        },
      ],
      [
        "a link to a folder that does not exist yet",
        ({ cwd, outside }) => {
          symlinkSync(join(outside, "later"), join(cwd, "later"));
          return { path: "later/new.txt", target: join(outside, "later/new.txt") };
        },
      ],
      [
        "a chain of links, the last one dangling",
        ({ cwd, outside }) => {
          symlinkSync("two", join(cwd, "one"));
          symlinkSync("../outside/new.txt", join(cwd, "two"));
          return { path: "one", target: join(outside, "new.txt") };
        },
      ],
      [
        "a relative climb through a link",
        ({ cwd, outside }) => {
          mkdirSync(join(outside, "deep"));
          symlinkSync(join(outside, "deep"), join(cwd, "deep"));
          return { path: `${join(cwd, "deep")}/up.txt`, target: join(outside, "deep/up.txt") };
        },
      ],
      [
        "a dangling link to git hooks inside",
        ({ cwd }) => {
          mkdirSync(join(cwd, ".git/hooks"), { recursive: true });
          symlinkSync(".git/hooks/post-commit", join(cwd, "readme.txt"));
          return { path: "readme.txt", target: join(cwd, ".git/hooks/post-commit") };
        },
      ],
      [
        "nested git hooks",
        ({ cwd }) => ({
          path: "vendor/lib/.git/hooks/pre-push",
          target: join(cwd, "vendor/lib/.git/hooks/pre-push"),
        }),
      ],
      [
        "git hooks in another case",
        ({ cwd }) => ({ path: ".GIT/Hooks/pre-push", target: join(cwd, ".GIT/Hooks/pre-push") }),
      ],
      [
        "hooks of a submodule",
        ({ cwd }) => ({
          path: ".git/modules/lib/hooks/pre-push",
          target: join(cwd, ".git/modules/lib/hooks/pre-push"),
        }),
      ],
      ["git's configuration", ({ cwd }) => ({ path: ".git/config", target: join(cwd, ".git/config") })],
      [
        "the project's own tools",
        ({ cwd }) => ({ path: ".hermes/tools/evil.ts", target: join(cwd, ".hermes/tools/evil.ts") }),
      ],
      ["a file of secrets", ({ cwd }) => ({ path: ".env", target: join(cwd, ".env") })],
      [
        "a start-up file by a dangling link",
        ({ cwd }) => {
          const target = join(homedir(), ".zprofile");
          symlinkSync(target, join(cwd, "notes.md"));
          return { path: "notes.md", target: existsSync(target) ? join(cwd, "none") : target };
        },
      ],
    ])("%s", async (_what, prepare) => {
      const { cwd, outside, asked, session } = await bench();
      writeFileSync(join(cwd, "harmless.txt"), "a\n");
      const { path, target } = prepare({ cwd, outside });
      const result = await session.call(write(path));
      expect(existsSync(target)).toBe(false);
      expect(result.ok).toBe(false);
      expect(result.error?.code).toBe("denied");
      expect(asked).toHaveLength(1);
      expect(readFileSync(join(cwd, "harmless.txt"), "utf8")).toBe("a\n");
    });
  });

  it("a folder swapped for a link while the person thinks about it is judged again", async () => {
    const { cwd, outside, runtime } = await bench();
    mkdirSync(join(cwd, "conf"));
    const approver: Approver = {
      async ask() {
        rmSync(join(cwd, "conf"), { recursive: true });
        symlinkSync(outside, join(cwd, "conf"));
        return "once";
      },
    };
    const session = await runtime.openSession({ approver });
    const result = await session.call({
      name: "write_file",
      arguments: { path: "conf/.env.local", content: "A=1" },
    });
    expect(result.ok).toBe(false);
    expect(existsSync(join(outside, ".env.local"))).toBe(false);
  });

  it("a link that turns between two calls of one batch does not carry the second one out", async () => {
    const { cwd, outside, session } = await bench();
    const results = await session.callAll([
      { name: "terminal", arguments: { command: `ln -s ${outside} swap` } },
      { name: "write_file", arguments: { path: "swap/out.txt", content: "evil" } },
      { name: "terminal", arguments: { command: `ln -sfn ${outside}/later.txt here.txt` } },
      { name: "write_file", arguments: { path: "here.txt", content: "evil" } },
    ]);
    expect(results.map((result) => result.error?.code)).toEqual([undefined, "denied", undefined, "denied"]);
    expect(existsSync(join(outside, "out.txt")) || existsSync(join(outside, "later.txt"))).toBe(false);
    expect(existsSync(join(cwd, "swap"))).toBe(true);
  });

  it("a race of a swapping link against a hundred writes puts nothing outside", async () => {
    const { cwd, outside, session } = await bench();
    mkdirSync(join(cwd, "real"));
    let swapping = true;
    const swapper = (async () => {
      while (swapping) {
        for (const target of [join(cwd, "real"), outside]) {
          symlinkSync(target, join(cwd, "turn.new"));
          renameSync(join(cwd, "turn.new"), join(cwd, "turn"));
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
    })();
    const results = [];
    for (let index = 0; index < 100; index += 1) {
      results.push(
        await session.call({ name: "write_file", arguments: { path: `turn/f${index}`, content: "x" } }),
      );
    }
    swapping = false;
    await swapper;
    const escaped = Array.from({ length: 100 }, (_each, index) => index).filter((index) =>
      existsSync(join(outside, `f${index}`)),
    );
    expect(escaped).toEqual([]);
    for (const [index, result] of results.entries()) {
      if (result.ok) expect(existsSync(join(cwd, "real", `f${index}`))).toBe(true);
    }
  });
});

describe(`lesson 30: two processes swap folders for links, ${RACE_SECONDS} s`, () => {
  const limit = (RACE_SECONDS + 30) * 1000;
  const secret = "TOP-5ecret-line";

  /** A folder of the workspace that is a link to the person's keys every other moment. */
  async function swapped() {
    const { cwd, home, session, asked } = await bench();
    const keys = join(home, ".ssh");
    mkdirSync(join(keys, "inner"), { recursive: true });
    mkdirSync(join(cwd, "dir"));
    mkdirSync(join(cwd, "deep/inner"), { recursive: true });
    const names = Array.from({ length: 5 }, (_, index) => `f${index}`);
    for (const name of names) {
      writeFileSync(join(keys, name), secret);
      writeFileSync(join(keys, "inner", name), secret);
      writeFileSync(join(cwd, "dir", name), "own\n");
      writeFileSync(join(cwd, "deep/inner", name), "own\n");
    }
    symlinkSync(keys, join(cwd, "link"));
    symlinkSync(join(keys, "inner"), join(cwd, "deep/link"));
    const canary = () =>
      JSON.stringify(
        [keys, join(keys, "inner")].map((folder) =>
          readdirSync(folder, { withFileTypes: true })
            .map((entry) => [
              entry.name,
              entry.isFile() ? readFileSync(join(folder, entry.name), "utf8") : "",
            ])
            .sort(),
        ),
      );
    const before = canary();
    await startSwapper(join(cwd, "dir"), join(cwd, "link"));
    await startSwapper(join(cwd, "deep/inner"), join(cwd, "deep/link"));
    return { session, asked, canary, before };
  }

  async function whileSwapping(call: (round: number) => Promise<{ ok: boolean }>) {
    const enough = Date.now() + RACE_SECONDS * 1000;
    // A busy machine may meet the folder in the same state every time: go on until both have been seen.
    const atMost = enough + 20_000;
    let done = 0;
    let refused = 0;
    for (let round = 0; ; round += 1) {
      const now = Date.now();
      if (now > atMost || (now > enough && done > 0 && refused > 0)) return { done, refused };
      (await call(round)).ok ? done++ : refused++;
    }
  }
  const pathOf = (round: number) => `${round % 2 === 0 ? "dir" : "deep/inner"}/f${round % 5}`;

  it("no byte is written outside", { timeout: limit }, async () => {
    const { session, canary, before } = await swapped();
    const counts = await whileSwapping((round) => {
      const path = pathOf(round);
      const calls: CallRequest[] = [
        { name: "write_file", arguments: { path, content: "own\n" } },
        { name: "write_file", arguments: { path: `${path}-${round % 50}`, content: "own\n" } },
        { name: "patch", arguments: { mode: "replace", path, old_string: "own", new_string: "own" } },
        {
          name: "patch",
          arguments: {
            mode: "patch",
            patch: `*** Begin Patch\n*** Add File: ${path}.${round}\n+own\n*** Delete File: ${path}\n*** End Patch`,
          },
        },
        { name: "write_file", arguments: { path: `${path}.d${round % 9}/new/file`, content: "own\n" } },
      ];
      return session.call(calls[round % calls.length] as CallRequest);
    });
    expect(canary()).toBe(before);
    expect(counts.done).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
  });

  it("no key is read", { timeout: limit }, async () => {
    const { session, canary, before } = await swapped();
    const shown: string[] = [];
    const counts = await whileSwapping(async (round) => {
      const result = await session.call({ name: "read_file", arguments: { path: pathOf(round) } });
      if (JSON.stringify(result).includes(secret)) shown.push(pathOf(round));
      return result;
    });
    expect(shown).toEqual([]);
    expect(canary()).toBe(before);
    expect(counts.done).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
  });
});

describe("lesson 30: secrets are not read through other names", () => {
  it("links, case, /proc and searches", async () => {
    const { runtime, cwd, home } = await testRuntime([], { builtins: true });
    const secret = "TOP-5ecret-line";
    writeFileSync(join(cwd, ".env"), `KEY=${secret}\n`);
    writeFileSync(join(home, "server.token"), `${secret}\n`);
    symlinkSync(join(cwd, ".env"), join(cwd, "plain.txt"));
    symlinkSync(home, join(cwd, "homelink"));
    mkdirSync(join(cwd, "sub"));
    const session = await runtime.openSession({ approver: { ask: async () => "once" } });
    const reads = [
      ".env",
      "plain.txt",
      "sub/../.env",
      "./././.env",
      `/proc/self/cwd/../..${cwd}/.env`,
      `/proc/self/root${cwd}/.env`,
      "homelink/server.token",
      "/proc/self/environ",
      "/proc/thread-self/environ",
      `/proc/${process.pid}/environ`,
      "/dev/fd/0",
    ];
    for (const path of reads) {
      const result = await session.call({ name: "read_file", arguments: { path } });
      expect([path, result.ok]).toEqual([path, false]);
      expect(JSON.stringify(result)).not.toContain(secret);
    }
    mkdirSync(join(home, ".ssh"));
    mkdirSync(join(home, ".aws"));
    for (const place of [".ssh/config", ".ssh/id_ed25519", ".aws/credentials", ".netrc"]) {
      writeFileSync(join(home, place), `${secret}\n`);
    }
    writeFileSync(join(cwd, "sub", "id_rsa"), `${secret}\n`);
    const searches: { pattern: string; path: string; file_glob?: string }[] = [
      { pattern: "TOP-5", path: "~" },
      { pattern: "TOP-5", path: "." },
      { pattern: "TOP-5", path: ".env" },
      { pattern: "TOP-5", path: "plain.txt" },
      { pattern: "TOP-5", path: "homelink" },
      { pattern: "TOP-5", path: home },
      { pattern: "TOP-5", path: cwd, file_glob: ".*" },
      { pattern: "TOP-5", path: cwd, file_glob: ".env" },
    ];
    for (const args of searches) {
      const result = await session.call({ name: "search_files", arguments: args });
      expect([args.path, args.file_glob, JSON.stringify(result).includes(secret)]).toEqual([
        args.path,
        args.file_glob,
        false,
      ]);
    }
  });
});
