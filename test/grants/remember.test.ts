import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/load.js";
import { createAllowlist } from "../../src/policy/grants/allowlist.js";
import { allowlistFrom, listGrants, revokeGrant } from "../../src/policy/grants/config-grants.js";
import { GrantState } from "../../src/policy/grants/grant-state.js";
import { loadAnalysis } from "../../src/shell/analysis.js";
import { UNKNOWN } from "../../src/shell/types.js";
import { tempDir } from "../support/runtime.js";
import { withPerson } from "./asking.js";
import { danger, questionAbout, whereabouts } from "./segments.js";

beforeAll(() => loadAnalysis());

const load = (home: string) =>
  loadConfig({ home, cwd: home, env: {}, systemDir: join(home, "no-system-config") });

describe('what "always" offers', () => {
  const offered = createAllowlist({ entries: [], home: "/nowhere" }).rememberable;

  it("the exact text of each part that was asked about, nothing of the others", () => {
    const segments = [
      danger("git status", { verdict: "safe" }),
      danger("rm -rf ./tmp"),
      danger("rm -rf ./tmp"),
    ];
    expect(offered(segments)).toEqual(["rm -rf ./tmp"]);
    expect(offered([danger("rm -rf a"), danger("git push -f")])).toEqual(["rm -rf a", "git push -f"]);
    expect(offered([danger("ls", { verdict: "safe" })])).toEqual([]);
  });

  it.each([
    ["an unknown piece", danger(`rm -rf ${UNKNOWN}`)],
    ["a spelled-out unknown piece", danger("rm -rf <unknown>/x")],
    ["a shell that is fed", danger("bash")],
    ["a shell that is fed with more rights", danger("sudo sh -s")],
    ["an interpreter that is fed", danger("python3 -")],
    ["a hardline", danger("rm -rf /", { verdict: "hardline" })],
    ["a command under another loader", danger("git push -f", { text: "LD_PRELOAD=x git push -f" })],
    ["a command as another user", danger("sudo rm x", { text: "sudo -u root rm x" })],
    ["a line break", danger("rm -rf 'a\nb'")],
    ["a control character", danger("rm -rf a\u001b[2K")],
    ["an invisible character", danger("rm -rf a\u200b")],
    ["a reordering character", danger("rm -rf \u202ea")],
    ["more than anybody reads", danger(`rm -rf ${"x".repeat(3_000)}`)],
  ])("nothing for %s, and then nothing for the whole line", (_name, segment) => {
    expect(offered([segment])).toEqual([]);
    expect(offered([danger("rm -rf build"), segment])).toEqual([]);
  });

  it("nothing that holds a secret", () => {
    const redact = (text: string) => text.replaceAll("hunter2", "***");
    const list = createAllowlist({ entries: [], home: "/nowhere", redact });
    expect(list.rememberable([danger("curl -d hunter2 x")])).toEqual([]);
    expect(list.rememberable([danger("curl -d fish x")])).toEqual(["curl -d fish x"]);
  });
});

describe('answering "always"', () => {
  it("writes a grant with folder, date and origin, and counts at once and in the next process", async () => {
    const home = tempDir();
    const cwd = join(home, "app");
    mkdirSync(cwd);
    writeFileSync(join(home, "config.yaml"), "# mine\ncommand_allowlist:\n  - git push *  # long ago\n");
    const list = allowlistFrom(await load(home));
    const segment = danger("rm -rf build");
    const where = whereabouts("rm -rf build", cwd);
    expect(list.covering(segment, where)).toBeUndefined();
    const request = questionAbout([segment], {
      session: { id: "s", profile: "default", cwd, workspace: cwd },
    });
    await list.remember(["rm -rf build"], request);
    expect(list.covering(segment, where)).toMatchObject({ kind: "command", scope: cwd });
    const text = readFileSync(join(home, "config.yaml"), "utf8");
    expect(text).toContain("# mine\ncommand_allowlist:\n  - git push *  # long ago\n");
    expect(parse(text).command_allowlist[1]).toEqual({
      command: "rm -rf build",
      scope: cwd,
      added: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      origin: "always (cli)",
    });
    const next = allowlistFrom(await load(home));
    expect(next.covering(segment, where)).toBeDefined();
    expect(next.covering(segment, whereabouts("rm -rf build", home))).toBeUndefined();
    await next.remember(["rm -rf build"], request);
    expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe(text);
  });

  it("is tied to the folder the line goes to, and to the environment when it is another one", async () => {
    const home = tempDir();
    const other = tempDir();
    const list = createAllowlist({ entries: [], home });
    const line = `cd ${other} && rm -rf build`;
    const segment = danger("rm -rf build");
    const effects = [{ action: "terminal:execute", resource: line, mode: "execute" }] as const;
    const session = { id: "s", profile: "default", cwd: home, workspace: home };
    await list.remember(["rm -rf build"], questionAbout([segment], { effects, session }));
    expect(list.covering(segment, whereabouts(line, home))).toMatchObject({ scope: other });
    expect(list.covering(segment, whereabouts("rm -rf build", home))).toBeUndefined();
    await list.remember(
      ["rm -rf build"],
      questionAbout([segment], { environment: "ssh", environmentKind: "ssh" }),
    );
    expect(list.covering(segment, whereabouts("rm -rf build", "/x", "ssh"))).toMatchObject({
      scope: "environment:ssh",
    });
  });

  it("is tied to the folder the tool was told to run in", async () => {
    const { asked, session, cwd } = await withPerson("always");
    const place = join(cwd, "app");
    mkdirSync(join(place, "build"), { recursive: true });
    const call = (workdir?: string) => ({
      name: "terminal",
      arguments: { command: "rm -rf build", ...(workdir !== undefined && { workdir }) },
    });
    expect((await session.call(call("app"))).ok).toBe(true);
    expect((await session.call(call("app"))).ok).toBe(true);
    expect(asked).toHaveLength(1);
    expect((await session.explainCall(call())).decision).toMatchObject({ verdict: "ask" });
  });

  it("widened, it writes the rule and not the command", async () => {
    const home = tempDir();
    const list = createAllowlist({ entries: [], home });
    await list.remember(["recursive-delete"], questionAbout([danger("rm -rf build")]));
    expect(list.covering(danger("rm -rf other"), whereabouts("rm -rf other"))).toMatchObject({
      kind: "rule",
    });
    expect(parse(readFileSync(join(home, "config.yaml"), "utf8")).command_allowlist).toMatchObject([
      { rule: "recursive-delete" },
    ]);
  });

  it("a text with wildcards stays the exact command it was", async () => {
    const list = createAllowlist({ entries: [], home: tempDir() });
    await list.remember(["rm -rf build/*"], questionAbout([danger("rm -rf build/*")]));
    expect(list.covering(danger("rm -rf build/*"), whereabouts("rm -rf build/*"))).toBeDefined();
    expect(list.covering(danger("rm -rf build/x"), whereabouts("rm -rf build/x"))).toBeUndefined();
  });

  it("what cannot be written is said, and the file stays as it is", async () => {
    const home = tempDir();
    writeFileSync(join(home, "config.yaml"), "command_allowlist: [\n");
    const list = createAllowlist({ entries: [], home });
    await expect(list.remember(["rm -rf a"], questionAbout([danger("rm -rf a")]))).rejects.toThrow(
      "config.yaml:",
    );
    expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe("command_allowlist: [\n");
  });
});

describe("uses", () => {
  const entry = { command: "rm -rf a", max_uses: 2 };
  const segment = danger("rm -rf a");
  const where = whereabouts("rm -rf a");

  it("are counted over all processes, and a limit ends the grant", async () => {
    const home = tempDir();
    const [one, two] = [
      createAllowlist({ entries: [entry], home }),
      createAllowlist({ entries: [entry], home }),
    ];
    const grant = one.covering(segment, where);
    one.countUse([grant?.id ?? ""]);
    expect(one.covering(segment, where)).toBeDefined();
    await one.close();
    expect(two.covering(segment, where)).toBeDefined();
    two.countUse([grant?.id ?? ""]);
    expect(two.covering(segment, where)).toBeUndefined();
    await two.close();
    expect(one.covering(segment, where)).toBeUndefined();
    expect(
      createAllowlist({ entries: [{ ...entry, max_uses: 3 }], home }).covering(segment, where),
    ).toBeDefined();
  });

  it("are known exactly while they are being written down", async () => {
    const state = new GrantState({
      home: tempDir(),
      now: Date.now,
      onTrouble: (text) => expect(text).toBe(""),
    });
    const seen = new Set<number | undefined>();
    for (let round = 1; round <= 30; round++) {
      state.count(["a"]);
      let written = false;
      void state.flush().then(() => {
        written = true;
      });
      while (!written) {
        seen.add((state.usesOf("a") ?? 0) - round);
        await new Promise(setImmediate);
      }
    }
    expect([...seen]).toEqual([0]);
  });

  it("a burst is neither lost nor counted twice, whoever writes at the same time", async () => {
    const home = tempDir();
    const lists = [1, 2, 3].map(() => createAllowlist({ entries: [entry], home }));
    for (let round = 0; round < 20; round++) {
      for (const list of lists) for (let count = 0; count < 5; count++) list.countUse(["aaaaaaaa"]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const list of lists) await list.close();
    const saved = JSON.parse(readFileSync(join(home, "grants.json"), "utf8"));
    expect(saved.uses.aaaaaaaa.count).toBe(300);
  });

  it("nothing is written when nothing was used", async () => {
    const home = tempDir();
    const list = createAllowlist({ entries: [entry], home });
    list.countUse([]);
    list.covering(segment, where);
    await list.close();
    expect(existsSync(join(home, "grants.json"))).toBe(false);
  });

  it.each(["{", "[]", "null", '{"uses":{"x":{"count":"many"}},"revoked":{}}', '{"uses":[],"revoked":{}}'])(
    "when the count cannot be read (%s), no grant counts, and it is said",
    (text) => {
      const home = tempDir();
      writeFileSync(join(home, "grants.json"), text);
      const said: string[] = [];
      const list = createAllowlist({
        entries: ["rm -rf a"],
        home,
        onTrouble: (message) => said.push(message),
      });
      expect(list.covering(segment, where)).toBeUndefined();
      expect(said[0]).toContain("grants.json");
    },
  );

  it("a home that cannot be written to still counts in this process", async () => {
    const home = tempDir();
    // A folder in the way of the file cannot be replaced, not even by root.
    mkdirSync(join(home, "grants.json.lock"));
    const said: string[] = [];
    const list = createAllowlist({ entries: [entry], home, onTrouble: (message) => said.push(message) });
    const id = list.covering(segment, where)?.id ?? "";
    list.countUse([id, id]);
    expect(list.covering(segment, where)).toBeDefined();
    list.countUse([id]);
    expect(list.covering(segment, where)).toBeUndefined();
  });
});

describe("withdrawing a grant", () => {
  it("works at once in processes that had read it, and a new entry of the same words counts again", async () => {
    const home = tempDir();
    writeFileSync(join(home, "config.yaml"), "command_allowlist:\n  - rm -rf a # here\n  - rm -rf b\n");
    const config = await load(home);
    const running = allowlistFrom(config);
    const covered = () => running.covering(danger("rm -rf a"), whereabouts("rm -rf a"));
    const id = covered()?.id ?? "";
    expect(await revokeGrant(config, id)).toMatchObject({ ok: true });
    expect(covered()).toBeUndefined();
    expect(running.covering(danger("rm -rf b"), whereabouts("rm -rf b"))).toBeDefined();
    expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe("command_allowlist:\n  - rm -rf b\n");
    await new Promise((resolve) => setTimeout(resolve, 5));
    writeFileSync(join(home, "config.yaml"), "command_allowlist: [rm -rf a]\n");
    const later = allowlistFrom(await load(home));
    expect(later.covering(danger("rm -rf a"), whereabouts("rm -rf a"))).toBeDefined();
  });

  it("an id that is not there, and one that another file sets, are told apart", async () => {
    const home = tempDir();
    const systemDir = tempDir();
    const file = join(systemDir, "config.yaml");
    writeFileSync(file, "command_allowlist: [rm -rf a]\n");
    const config = await loadConfig({ home, cwd: home, env: {}, systemDir });
    expect(await revokeGrant(config, "00000000")).toMatchObject({ ok: false, code: "not_found" });
    const [grant] = listGrants(config);
    expect(await revokeGrant(config, grant?.id ?? "")).toMatchObject({
      ok: false,
      code: "denied",
      message: expect.stringContaining(`${file}:1`),
    });
  });

  it("the list says what still counts", async () => {
    const home = tempDir();
    const now = Date.parse("2030-06-15T00:00:00Z");
    writeFileSync(
      join(home, "config.yaml"),
      `command_allowlist:
  - rm -rf a
  - { command: rm -rf b, expires: 2030-01-01 }
  - { command: rm -rf c, max_uses: 1 }
  - bash *
`,
    );
    const config = await load(home);
    const list = allowlistFrom(config);
    list.countUse([list.covering(danger("rm -rf c"), whereabouts("rm -rf c"))?.id ?? ""]);
    await list.close();
    expect(
      listGrants(config, { now: () => now }).map(({ text, state, uses, line }) => [text, state, uses, line]),
    ).toEqual([
      ["rm -rf a", "in force", 0, 2],
      ["rm -rf b", "expired", 0, 3],
      ["rm -rf c", "used up", 1, 4],
      ["bash *", "too wide", 0, 5],
    ]);
  });
});
