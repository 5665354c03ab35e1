import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { Skills } from "../../../src/agent/skills/skills.js";
import { loadConfig } from "../../../src/config/load.js";
import { createRuntime } from "../../../src/runtime/create-runtime.js";
import { openDatabase } from "../../../src/store/sqlite-driver.js";
import { errorLine, hermes, hermesJson, json, tempFolder } from "../hermes.js";
import { CONFIG, writeOriginalHome, writeStateDb, writeTree } from "./original-home.js";

interface Item {
  readonly kind: string;
  readonly name: string;
  readonly state: string;
  readonly to: string | null;
  readonly reason: string | null;
}

interface Report {
  readonly from: string;
  readonly dry_run: boolean;
  readonly items: readonly Item[];
}

const NONE: Report = { from: "", dry_run: false, items: [] };

async function migrate(home: string, from: string, ...flags: string[]): Promise<Report> {
  const done = await hermes(["migrate", "--from", from, "--json", ...flags], { home });
  return json<Report>(done);
}

function stateOf({ items }: Report, kind: string, name: string): Item {
  const found = items.filter((item) => item.kind === kind && item.name.startsWith(name));
  expect(found, `${kind} ${name}`).toHaveLength(1);
  return found[0] as Item;
}

/** Every file below a folder with its mode and content. */
function treeOf(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((path) => [
        path.slice(folder.length),
        `${statSync(path).mode.toString(8)} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`,
      ]),
  );
}

/** This process may close its own connection late, and the files beside the database go with it. */
function settledTreeOf(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(treeOf(folder)).filter(([name]) => !/-(?:wal|shm)$/.test(name)));
}

describe("hermes migrate", () => {
  const from = tempFolder();
  const home = tempFolder();
  const untouched = new Map<string, string>();
  const reports: Record<"dry" | "first" | "second", Report> = { dry: NONE, first: NONE, second: NONE };
  let afterFirst: Readonly<Record<string, string>> = {};

  beforeAll(async () => {
    writeOriginalHome(from);
    for (const [name, sign] of Object.entries(settledTreeOf(from))) untouched.set(name, sign);
    reports.dry = await migrate(home, from, "--dry-run");
    expect(treeOf(home)).toEqual({});
    reports.first = await migrate(home, from);
    afterFirst = treeOf(home);
    reports.second = await migrate(home, from);
  }, 60_000);

  it("brings everything over once, leaves the other home as it was, and says what it left behind", async () => {
    const { dry, first, second } = reports;
    expect(dry).toMatchObject({ from, dry_run: true });
    expect(first).toMatchObject({ from, dry_run: false, items: dry.items });
    expect(treeOf(from)).toMatchObject(Object.fromEntries(untouched));

    // Settings: renamed, added, left as they are here, and those without a counterpart by name.
    expect(stateOf(first, "setting", "terminal.backend")).toMatchObject({
      state: "migrated",
      to: "terminal.env",
    });
    expect(stateOf(first, "setting", "terminal.container_memory")).toMatchObject({ state: "kept" });
    expect(stateOf(first, "setting", "tools.tool_search.enabled")).toMatchObject({ state: "migrated" });
    expect(stateOf(first, "setting", "web.search_backend")).toMatchObject({ state: "migrated" });
    expect(stateOf(first, "setting", "display")).toMatchObject({
      state: "skipped",
      reason: "no counterpart here: skin, compact",
    });
    const config = readFileSync(join(home, "config.yaml"), "utf8");
    expect(config).toMatch(/env: docker/);
    expect(config).toMatch(/search_engine: duckduckgo/);
    expect(config).toMatch(/enabled: "?off"?/);
    expect(config).toMatch(/name: anthropic\/claude-opus-4\.6/);
    expect(config).toMatch(/evil\.example/);
    expect(config).toMatch(/git push --force/);
    const loaded = await loadConfig({ home, cwd: home, env: {} });
    expect(loaded.problems).toEqual([]);
    expect(loaded.values.memory.max_chars).toBe(3000);
    // An unknown toolset would keep every session from opening.
    expect(loaded.values.platform_toolsets).toEqual({ telegram: ["web"] });
    expect(loaded.values.agent.disabled_toolsets).toEqual(["browser"]);
    expect(loaded.values.toolsets).toEqual(["all"]);
    expect(stateOf(first, "setting", "platform_toolsets").reason).toContain(
      "telegram: toolsets that do not exist here",
    );

    // Nothing gets looser by it.
    for (const name of ["approvals.mode", "approvals.cron_mode", "security.allow_private_urls"])
      expect(stateOf(first, "setting", name).state).toBe("skipped");
    expect(config).not.toMatch(/mode: off|allow_private_urls|approve/);
    expect(stateOf(first, "secret", "HERMES_YOLO_MODE").state).toBe("skipped");
    expect(stateOf(first, "secret", "GATEWAY_ALLOW_ALL_USERS").state).toBe("skipped");
    expect(stateOf(first, "grant", "python *").state).toBe("skipped");
    expect(loaded.values.approvals.mode).toBe("manual");

    // Secrets are in .env, for their owner alone, and in no report.
    const env = readFileSync(join(home, ".env"), "utf8");
    expect(env).toContain("OPENROUTER_API_KEY=sk-or-secret-1");
    expect(env).toContain("MCP_GITHUB_GITHUB_PERSONAL_ACCESS_TOKEN=ghp_");
    expect(env).not.toContain("OPENAI_BASE_URL");
    expect(statSync(join(home, ".env")).mode & 0o777).toBe(0o600);
    expect(config).not.toContain("ghp_");
    expect(JSON.stringify(first)).not.toMatch(/sk-or-secret|ghp_/);

    expect(loaded.values.command_allowlist).toEqual([
      { rule: "recursive delete", origin: "Hermes Agent" },
      { pattern: "npm run *", origin: "Hermes Agent" },
    ]);
    expect(loaded.values.mcp_servers).toMatchObject({
      github: { env: { GITHUB_PERSONAL_ACCESS_TOKEN: `\${${"MCP_GITHUB_GITHUB_PERSONAL_ACCESS_TOKEN"}}` } },
      time: { command: "uvx", sampling: false },
    });
    expect(stateOf(first, "mcp_server", "time").reason).toBe("no counterpart here: sampling");

    // Memory and skills pass the same checks as everything else.
    expect(readFileSync(join(home, "memories", "MEMORY.md"), "utf8")).toBe(
      "The tests run with `make check`.\n",
    );
    expect(stateOf(first, "memory", "MEMORY.md: Ignore")).toMatchObject({ state: "failed" });
    expect(readFileSync(join(home, "memories", "USER.md"), "utf8")).toContain("short answers");
    const skills = await new Skills({ folder: join(home, "skills"), env: {} }).all();
    expect(skills).toEqual([expect.objectContaining({ name: "review", category: "coding", state: "ready" })]);
    expect(stateOf(first, "skill", "broken").state).toBe("failed");

    expect(stateOf(first, "other", "SOUL.md").state).toBe("skipped");

    // Once more: nothing is left to do, and nothing changes.
    expect(second.items.filter(({ state }) => state === "migrated")).toEqual([]);
    expect(treeOf(home)).toEqual(afterFirst);
  });

  it("keeps conversations as a person saw them, with their ids, times, kin and owners", async () => {
    const report = reports.first;
    expect(stateOf(report, "conversation", "20251011_080000_dd44")).toMatchObject({ state: "skipped" });

    const all = await hermesJson<Record<string, unknown>[]>(["sessions", "list", "--all"], { home });
    expect(all).toEqual([
      expect.objectContaining({ id: "20251010_080000_cc33", source: "telegram", owner: "telegram:42" }),
      expect.objectContaining({
        id: "20251009_080100_bb22",
        source: "subagent",
        parent: "20251009_080000_aa11",
      }),
      expect.objectContaining({
        id: "20251009_080000_aa11",
        title: "The build",
        model: "m/one",
        cwd: "/app",
        messages: 4,
        state: "idle",
        started_at: new Date(1_760_000_000_000).toISOString(),
        updated_at: new Date(1_760_000_006_000).toISOString(),
      }),
    ]);
    const { messages } = await hermesJson<{ messages: Record<string, unknown>[] }>(
      ["sessions", "show", "20251009_080000_aa11"],
      { home },
    );
    expect(messages).toEqual([
      expect.objectContaining({
        role: "user",
        content: "Why is it red?",
        at: new Date(1_760_000_001_500).toISOString(),
      }),
      expect.objectContaining({
        role: "assistant",
        tool_calls: [{ id: "c1", name: "read_file", arguments: '{"path":"ci.log"}' }],
      }),
      expect.objectContaining({
        role: "tool",
        content: "line 3: boom",
        tool_call_id: "c1",
        name: "read_file",
      }),
      expect.objectContaining({ role: "assistant", content: "Line 3 is broken." }),
    ]);
    const picture = await hermesJson<{ messages: { content: unknown }[] }>(
      ["sessions", "show", "20251010_080000_cc33"],
      { home },
    );
    expect(picture.messages[0]?.content).toEqual([
      { type: "text", text: "What is this?" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
    ]);
    const found = await hermesJson<{ session: string }[]>(["sessions", "search", "broken"], { home });
    expect(found.map(({ session }) => session)).toEqual(["20251009_080000_aa11"]);
  });

  it("brings jobs paused, with their scripts, and names what a job here cannot say", async () => {
    const report = reports.first;
    expect(stateOf(report, "job", "Past")).toMatchObject({ state: "skipped", reason: "its time has passed" });
    expect(stateOf(report, "job", "Morning").reason).toContain("no counterpart here: model");
    const jobs = await hermesJson<Record<string, unknown>[]>(["cron", "list", "--all"], { home });
    expect(jobs).toHaveLength(2);
    expect(jobs).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          name: "Morning",
          state: "paused",
          schedule: "0 9 * * 1-5",
          deliver: "telegram:42",
        }),
        expect.objectContaining({ name: "Report", state: "paused", schedule: "every 30m", repeat: 3 }),
      ]),
    );
    expect(readFileSync(join(home, "scripts", "report.sh"), "utf8")).toBe("echo report\n");
  });

  it("takes what is spelled otherwise there, and names what is not here", async () => {
    const from = tempFolder();
    const home = tempFolder();
    const job = (name: string, more: object) => ({
      id: name,
      name,
      prompt: "x",
      schedule: { kind: "interval", minutes: 30 },
      ...more,
    });
    writeTree(from, {
      "config.yaml": `model: { default: claude, provider: anthropic, api_key: "\${ANTHROPIC_API_KEY}" }
terminal: { timeout: "240" }
tts: { provider: edge }
mcp_servers:
  my notes: { command: npx, args: [notes] }
  "a.b": { command: npx }
  a-b: { command: npx }
`,
      "scripts/here.sh": "echo here\n",
      "cron/jobs.json": JSON.stringify([
        job("by path", { script: join(from, "scripts/here.sh") }),
        job("outside", { script: "../../etc/passwd" }),
        job("gone", { script: "gone.sh" }),
        job("elsewhere", { workdir: "/no/such/folder" }),
      ]),
    });
    const report = await migrate(home, from);
    expect(stateOf(report, "setting", "terminal.timeout").state).toBe("migrated");
    expect(stateOf(report, "setting", "tts.provider")).toMatchObject({
      state: "skipped",
      reason: expect.stringMatching(/no edge here, but auto,/),
    });
    expect(stateOf(report, "secret", "model.api_key")).toMatchObject({
      state: "skipped",
      reason: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
    expect(stateOf(report, "mcp_server", "my notes").to).toBe("mcp_servers.my-notes");
    expect(stateOf(report, "mcp_server", "a.b").state).toBe("failed");
    const { values, problems } = await loadConfig({ home, cwd: home, env: {} });
    expect(problems).toEqual([]);
    expect(values.terminal.timeout).toBe(240);
    expect(Object.keys(values.mcp_servers)).toEqual(["my-notes", "a-b"]);
    // A text that is no file of the scripts folder would be a command here.
    for (const name of ["outside", "gone"])
      expect(stateOf(report, "job", name)).toMatchObject({
        state: "failed",
        reason: expect.stringContaining("no file of the scripts folder"),
      });
    expect(stateOf(report, "job", "elsewhere").reason).toContain("/no/such/folder is not on this machine");
    const jobs = await hermesJson<Record<string, unknown>[]>(["cron", "list", "--all"], { home });
    expect(jobs.find(({ name }) => name === "by path")).toMatchObject({ script: "here.sh" });
    const again = await migrate(home, from);
    expect(again.items.filter(({ state }) => state === "migrated")).toEqual([]);
  });

  it("a word in quotes means what it says, a broken line of .env takes nothing along, a job has one name", async () => {
    const from = tempFolder();
    const home = tempFolder();
    const prompt = "read the mail of ".repeat(8);
    writeTree(from, {
      "config.yaml": `security: { allow_private_urls: "true", redact_secrets: "False", website_blocklist: { enabled: "yes", domains: [evil.example] } }\n`,
      ".env": "two words\nA_KEY=secret-a\nÄ=x\nB_KEY=secret-b\n",
      "cron/jobs.json": JSON.stringify([{ id: "j", prompt, schedule: "every 2h" }]),
    });
    const report = await migrate(home, from);
    expect(stateOf(report, "setting", "security.allow_private_urls").state).toBe("skipped");
    expect(stateOf(report, "setting", "security.redact_secrets").state).toBe("skipped");
    expect(stateOf(report, "secret", ".env, line 1").state).toBe("failed");
    expect(stateOf(report, "secret", ".env, line 3").state).toBe("failed");
    expect(readFileSync(join(home, ".env"), "utf8")).toBe("A_KEY=secret-a\nB_KEY=secret-b\n");
    const { values } = await loadConfig({ home, cwd: home, env: {} });
    expect(values.security).toMatchObject({
      allow_private_urls: false,
      website_blocklist: ["evil.example"],
    });
    const again = await migrate(home, from);
    expect(again.items.filter(({ kind }) => kind === "job")).toMatchObject([{ state: "kept" }]);
  });

  it("brings skills under their own names, from any depth and behind links, and scripts that can be run", async () => {
    const from = tempFolder();
    const home = tempFolder();
    const elsewhere = tempFolder();
    const text = (name: string) => `---\nname: ${name}\ndescription: d\n---\n`;
    writeTree(from, {
      "skills/a/b/c/d/e/f/deep/SKILL.md": text("deep"),
      "skills/a/other/SKILL.md": text("own-name"),
      "skills/a/other/scripts/run.sh": "#!/bin/sh\necho ran\n",
    });
    writeTree(elsewhere, { "SKILL.md": text("linked") });
    symlinkSync(elsewhere, join(from, "skills/linked"));
    symlinkSync("..", join(from, "skills/a/round"));
    const report = await migrate(home, from);
    expect(report.items.map(({ name, state, to }) => [name, state, to])).toEqual([
      ["a/b/c/d/e/f/deep", "migrated", null],
      ["a/other", "migrated", "own-name"],
      ["linked", "migrated", null],
    ]);
    const script = join(home, "skills/a/own-name/scripts/run.sh");
    expect(execFileSync(script, { encoding: "utf8" })).toBe("ran\n");
    const again = await migrate(home, from);
    expect(again.items.map(({ state }) => state)).toEqual(["kept", "kept", "kept"]);
  });

  it("keeps what is here, also where the other home says otherwise", async () => {
    const from = tempFolder();
    const home = tempFolder();
    writeOriginalHome(from);
    writeTree(home, {
      "config.yaml": "# mine\nterminal: { env: local }\nagent: { max_turns: 60 }\n",
      ".env": "OPENROUTER_API_KEY=mine\n",
      "skills/review/SKILL.md": "---\nname: review\ndescription: mine\n---\nMine.\n",
    });
    const report = await migrate(home, from);
    expect(stateOf(report, "setting", "terminal.backend")).toMatchObject({ state: "kept" });
    expect(stateOf(report, "setting", "agent.max_turns").reason).toContain("already");
    expect(stateOf(report, "secret", "OPENROUTER_API_KEY").reason).toContain("another value is here");
    expect(stateOf(report, "skill", "coding/review").state).toBe("kept");
    expect(readFileSync(join(home, "config.yaml"), "utf8")).toMatch(/^# mine\nterminal: \{ env: local/);
    expect(readFileSync(join(home, ".env"), "utf8")).toContain("OPENROUTER_API_KEY=mine\n");
    expect(readFileSync(join(home, "skills", "review", "SKILL.md"), "utf8")).toContain("Mine.");
  });

  it("reads older databases, and names what it cannot read without giving up the rest", async () => {
    const from = tempFolder();
    const home = tempFolder();
    writeStateDb(join(from, "state.db"), {
      old: true,
      sessions: [{ id: "old-1", source: "cli", started_at: 1_700_000_000 }],
      messages: [{ session_id: "old-1", role: "user", content: "from long ago", timestamp: 1_700_000_001 }],
    });
    writeTree(from, {
      "config.yaml": "model: [unclosed\n",
      "cron/jobs.json": "{",
      "memories/USER.md": "Likes tea.",
    });
    writeFileSync(join(from, "memories", "MEMORY.md"), Buffer.from([0xff, 0xfe, 0x00]));
    // Its last rows are still in its log.
    const db = openDatabase(join(from, "state.db"));
    db.exec(
      "PRAGMA wal_autocheckpoint = 0; INSERT INTO sessions (id, source, started_at) VALUES ('late', 'cli', 1760100000)",
    );
    db.exec(
      "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('late', 'user', 'hi', 1760100001)",
    );
    const done = await hermes(["migrate", "--from", from, "--json"], { home });
    db.close();
    expect(done.code).toBe(3);
    const report = json<Report>(done);
    expect(stateOf(report, "setting", "config.yaml")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("line "),
    });
    expect(stateOf(report, "job", "cron/jobs.json").state).toBe("failed");
    expect(stateOf(report, "memory", "MEMORY.md")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("UTF-8"),
    });
    expect(stateOf(report, "memory", "USER.md: Likes").state).toBe("migrated");
    expect(stateOf(report, "conversation", "old-1").state).toBe("migrated");
    expect(stateOf(report, "conversation", "late").state).toBe("migrated");

    const broken = tempFolder();
    writeFileSync(join(broken, "state.db"), "this is no database, whatever its name says".repeat(40));
    const other = await migrate(tempFolder(), broken);
    expect(other.items).toEqual([
      expect.objectContaining({ kind: "conversation", name: "state.db", state: "failed" }),
    ]);
  });

  it("takes one approval that is no list for a list of one, as the original does", async () => {
    const from = tempFolder();
    const home = tempFolder();
    writeTree(from, { "config.yaml": "command_allowlist: npm run build\n" });
    expect(stateOf(await migrate(home, from), "grant", "npm run build").state).toBe("migrated");
    const { values } = await loadConfig({ home, cwd: home, env: {} });
    expect(values.command_allowlist).toEqual([{ command: "npm run build", origin: "Hermes Agent" }]);
  });

  it("does not write where it should only look, nor for a command that a tool started", async () => {
    const later = tempFolder();
    cpSync(from, later, { recursive: true });
    writeTree(later, {
      "memories/USER.md": "Prefers short answers.\n§\nSpeaks Dutch.",
      "config.yaml": `${CONFIG}timezone: Europe/Oslo\n`,
    });
    const before = treeOf(home);
    const dry = await migrate(home, later, "--dry-run");
    expect(dry.items.filter(({ state }) => state === "migrated").map(({ name }) => name)).toEqual([
      "timezone",
      "USER.md: Speaks Dutch.",
    ]);
    expect(treeOf(home)).toEqual(before);
    const byTool = await hermes(["migrate", "--from", later, "--json"], {
      home,
      env: { AI_AGENT: "hermes" },
    });
    expect(errorLine(byTool)).toMatchObject({ code: "denied" });
    expect(treeOf(home)).toEqual(before);
  });

  it.each([
    ["by its address", `{ default: some-model, provider: auto, base_url: "https://openrouter.ai/api/v1" }`],
    ["by the form of the name", "{ default: anthropic/claude-opus-4.6 }"],
    ["in one word", "anthropic/claude-opus-4.6"],
  ])(
    "a model that is asked through OpenRouter there (%s) is not asked elsewhere here",
    async (_how, model) => {
      const [from, home] = [tempFolder(), tempFolder()];
      // A key for something else, such as speech, lies beside it.
      writeTree(from, {
        "config.yaml": `model: ${model}\n`,
        ".env": "OPENAI_API_KEY=sk-a\nOPENROUTER_API_KEY=sk-b\n",
      });
      await migrate(home, from);
      const { items } = await hermesJson<{ items: { what: string }[] }>(["setup", "model", "--check"], {
        home,
      });
      expect(items[0]?.what).toMatch(/^model openrouter:/);
    },
  );

  it("leaves the choice of a model's provider open where the other home does", async () => {
    const [from, home] = [tempFolder(), tempFolder()];
    writeTree(from, { "config.yaml": "model: { default: claude-opus-4.6, provider: auto }\n" });
    expect(stateOf(await migrate(home, from), "setting", "model.provider")).toMatchObject({ state: "kept" });
  });

  it("no command and no program works in a home of the original, which stays as it is", async () => {
    const theirs = join(tempFolder(), "their home");
    writeOriginalHome(theirs);
    const [old, unsaved] = [tempFolder(), tempFolder()];
    writeStateDb(join(old, "state.db"), { old: true, sessions: [], messages: [] });
    writeTree(unsaved, { "config.yaml": "model: {}\n" });
    const db = openDatabase(join(unsaved, "state.db"));
    db.exec("PRAGMA journal_mode = WAL; CREATE TABLE schema_version (version INTEGER NOT NULL)");
    const before = [theirs, old, unsaved].map(settledTreeOf);
    const commands = [[], ["doctor"], ["call", "sleep", "seconds=0"], ["config", "set", "log.level", "warn"]];
    for (const words of [...commands, ["migrate", "--from", theirs]]) {
      const refused = await hermes([...words, "--json"], { home: theirs });
      expect(refused, words.join(" ")).toMatchObject({ code: 2, stdout: "" });
      expect(errorLine(refused)).toMatchObject({
        message: expect.stringContaining("home of Hermes Agent (Python)"),
        hint: expect.stringContaining(`mv '${theirs}' '${theirs}-agent'`),
      });
    }
    for (const home of [old, unsaved])
      await expect(createRuntime({ home })).rejects.toThrow("home of Hermes Agent");
    expect([theirs, old, unsaved].map(settledTreeOf)).toEqual(before);
    db.close();
  });

  it("refuses its own home, also by another name, and a folder that is none", async () => {
    const home = join(tempFolder(), "my home");
    mkdirSync(home);
    writeTree(home, { "config.yaml": "log: { level: warn }\n" });
    const link = join(tempFolder(), "link");
    symlinkSync(home, link);
    for (const from of [home, link])
      expect(errorLine(await hermes(["migrate", "--from", from, "--json"], { home }))).toMatchObject({
        code: "bad_request",
        message: expect.stringContaining("itself"),
      });
    const { stderr } = await hermes(["migrate", "--from", home], { home });
    expect(stderr).toContain(`mv '${home}' '${home}-agent'`);
    const nothing = errorLine(await hermes(["migrate", "--from", tempFolder(), "--json"], { home }));
    expect(nothing).toMatchObject({
      code: "not_found",
      message: expect.stringContaining("no home of Hermes Agent"),
    });
    expect(existsSync(join(home, "state.db"))).toBe(false);
  });

  it("tells a person in a table", async () => {
    const from = tempFolder();
    writeOriginalHome(from);
    const { stdout } = await hermes(["migrate", "--from", from, "--dry-run"], { home: tempFolder() });
    expect(stdout).toMatch(/migrated\s+setting\s+terminal\.backend → terminal\.env/);
    expect(stdout).toMatch(/skipped\s+setting\s+approvals\.mode\s+approvals are off there and stay on here/);
    expect(stdout).toMatch(/would be brought over; nothing was written/);
  });
});
