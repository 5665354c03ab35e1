import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MemoryFiles } from "../../src/agent/memory/memory-files.js";
import { openConversations } from "../../src/agent/sessions/conversation-store.js";
import { SkillRegister } from "../../src/agent/skills/register.js";
import { messageOf } from "../../src/base/errno.js";
import { readConfirmed } from "../../src/config/confirmed-files.js";
import { hermesPaths } from "../../src/config/paths.js";
import { trustedFolders, trustFolder } from "../../src/config/trust.js";
import { openGatewayStore } from "../../src/gateway/gateway-store.js";
import { createLogger, createRuntime, ToolRegistry } from "../../src/index.js";
import { openApprovals } from "../../src/policy/approvals/open.js";
import { GrantState } from "../../src/policy/grants/grant-state.js";
import { loadPermissions } from "../../src/policy/profiles/load.js";
import { resolveToken } from "../../src/server/token.js";
import { PinRows } from "../../src/sources/mcp/pin-rows.js";

/** Everything a Hermes home keeps, as one file's damage may hit it. The logs of databases come with them. */
export const STATE_FILES = [
  "config.yaml",
  "hermes_permissions.yaml",
  ".env",
  "trusted_folders",
  ".changes-confirmed",
  "grants.json",
  "approvals.key",
  "server.token",
  "state.db",
  "state.db-wal",
  "sessions.db",
  "sessions.db-wal",
  "sessions-index.db",
  "gateways.db",
  "gateways.db-wal",
  "memories/MEMORY.md",
  "skills/.register.json",
  "tools/count.yaml",
] as const;

/** People write these, and no rule is in them: what can be read there is what they say. */
export const NOTES: ReadonlySet<string> = new Set([".env", "memories/MEMORY.md", "tools/count.yaml"]);

const CONFIG = `# What this machine may do.
approvals:
  mode: manual   # a person decides
  deny:
    - "git push *"
    - shutdown *
    - 'curl * | sh'
command_allowlist: ["npm test", "git status"]
security:
  website_blocklist:
    - "*.ads.example"
    - tracker.example
  url_allowlist: [example.com, "*.example.org"]
tools:
  disabled: [browser_cdp]
`;

const PERMISSIONS = `global:
  deny: [env:write]
profiles:
  default:
    description: as always, with care
    allow: ["*"]
    deny: [docker:run, database:write]
    restrictions:
      file:write:
        denied_paths: ["**/*.pem", "/etc/**"]
      terminal:execute:
        denied_commands:
          - sudo *
`;

const TOOL_FILE = `tools:
  - name: count_words
    description: "Count words"
    type: command
    command: [wc, -w, "{{text}}"]
    parameters:
      - { name: text, type: string, required: true }
`;

const JOBS = 12;
const MESSAGES = 24;
const CHATS = 10;
const ANN = { id: "42", name: "Ann" };
const MAPS = { server: "maps", identity: "stdio:maps" };

/** Fills a home the way its programs do, and has it used while they run: then each database also has a log. */
export async function fillHome(home: string, use: (home: string) => void): Promise<void> {
  const write = (name: string, text: string) => writeFileSync(join(home, name), text, { mode: 0o600 });
  for (const folder of ["tools", "skills", "memories", "project-a", "project-b"])
    mkdirSync(join(home, folder), { recursive: true });
  write("config.yaml", CONFIG);
  write("hermes_permissions.yaml", PERMISSIONS);
  write(".env", "SERVICE_KEY=abcdefghijklmnop\nOTHER_KEY='zyxwvut srqponm'\n");
  write("tools/count.yaml", TOOL_FILE);
  await fillFiles(home);
  await fillDatabases(home, async () => {});
  await fillDatabases(home, async () => use(home));
}

async function fillFiles(home: string): Promise<void> {
  const paths = hermesPaths(home);
  await resolveToken({ configured: "", file: paths.serverToken });
  const approvals = await openApprovals({ home, stateDb: paths.stateDb, log: loggerTo(() => {}) });
  await approvals.close();
  for (const folder of ["project-a", "project-b"]) await trustFolder({ home, folder: join(home, folder) });
  const grants = new GrantState({ home, now: Date.now, onTrouble: () => {} });
  grants.count(["npm test", "git status"]);
  await grants.flush();
  await new SkillRegister(paths.skills).change("greet", () => ({
    author: "agent",
    sha256: "5".repeat(64),
    uses: 3,
  }));
  await memoryOf(home).change({
    target: "memory",
    operations: [
      { action: "add", content: "The person likes tea." },
      { action: "add", content: "Builds run on Fridays." },
    ],
  });
}

/** Closed at the end, so that what was written goes from the logs into the databases. */
async function fillDatabases(home: string, whileOpen: () => Promise<void>): Promise<void> {
  const paths = hermesPaths(home);
  const runtime = await openRuntime(home, () => {});
  const session = await runtime.openSession({});
  const call = async (name: string, args: Record<string, unknown>) => {
    const { ok, error } = await session.call({ name, arguments: args });
    if (!ok) throw new Error(error?.message);
  };
  for (let at = 0; at < JOBS; at += 1) {
    await call("write_file", { path: `file-${at}.txt`, content: `line ${at}\n` });
    await call("cronjob", {
      action: "create",
      name: `job-${at}-${session.id}`,
      schedule: "every 9h",
      script: `echo number ${at}`,
    });
  }
  const { db } = await runtime.store();
  new PinRows(db).addFirst(MAPS, [
    {
      definition: { name: "route", inputSchema: { type: "object" } },
      fingerprint: "f".repeat(43),
      present: true,
    },
  ]);
  db.prepare(
    "INSERT OR REPLACE INTO plugin_trust (name, folder, fingerprint, dev, guards, at) VALUES ('guard', '/p/guard', ?, 0, 1, 1)",
  ).run("a".repeat(43));
  const conversations = await openConversations(paths);
  const { id } = await conversations.create({ source: "cli", model: "m", cwd: "/w", title: "about tea" });
  for (let at = 0; at < MESSAGES; at += 1)
    await conversations.append(id, [
      { role: at % 2 === 0 ? "user" : "assistant", content: `words of message ${at}` },
    ]);
  await conversations.search({ words: "message", limit: 3 });
  const gateways = await openGatewayStore(paths.gatewaysDb);
  for (let at = 0; at < CHATS; at += 1)
    await gateways.write(() => {
      const message = {
        id: `m${at}-${id}`,
        chat: `c${at}`,
        person: ANN,
        text: `hello ${at}`,
        sentAt: 1,
        isPrivate: true,
      };
      gateways.inbox.add({ gateway: "telegram", message });
      gateways.outbox.add("telegram", { chat: `c${at}`, text: `answer ${at}` });
    });
  await gateways.write(() => {
    const code = gateways.people.issueCode("telegram", ANN);
    gateways.people.pair(code ?? "", "owner");
  });
  await whileOpen();
  for (const each of [runtime, conversations, gateways]) await each.close();
}

export interface Look {
  /** By what is kept; what could not be read is left out. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Everything a person was told, in the log or as an error. */
  readonly told: readonly string[];
  /** Calls that have nothing to do with what was damaged. */
  readonly works: boolean;
}

/** Opens all of it as the programs do and says what is there. */
export async function lookAt(home: string): Promise<Look> {
  const told: string[] = [];
  const facts: Record<string, unknown> = {};
  const paths = hermesPaths(home);
  const look = async (name: string, read: () => unknown) => {
    try {
      facts[name] = await read();
    } catch (error) {
      told.push(`${name}: ${messageOf(error)}`);
    }
  };
  let works = false;
  await look("runtime", async () => {
    const runtime = await openRuntime(home, (line) => void told.push(line));
    try {
      const { values } = runtime.config;
      facts.mode = values.approvals.mode;
      facts.denied = values.approvals.deny;
      facts.allowed = runtime.config.values.command_allowlist.map((grant) => JSON.stringify(grant));
      facts.blocked = values.security.website_blocklist;
      facts.hosts = values.security.url_allowlist;
      facts.disabled = values.tools.disabled;
      facts.secrets = Object.entries(runtime.config.env).filter(([name]) => /KEY/.test(name));
      facts.toolFile = runtime.registry.get("count_words")?.description;
      const session = await runtime.openSession({});
      const result = await session.call({ name: "read_file", arguments: { path: "steady.txt" } });
      works = result.ok;
      if (!result.ok) told.push(String(result.error?.message));
      await look("rows", async () =>
        (await (await runtime.journal()).recent({ limit: 1_000 }))
          .filter(({ tool }) => tool !== "read_file")
          .map(({ call_id, tool, status, args, damaged }) => {
            if (damaged === true) told.push(`${call_id} is damaged`);
            return { call_id, tool, status, args };
          }),
      );
      await look("jobs", async () => {
        const listed = await session.call({ name: "cronjob", arguments: { action: "list" } });
        if (!listed.ok) throw new Error(listed.error?.message);
        const { jobs } = listed.structured as { jobs: readonly { readonly late?: string }[] };
        for (const { late } of jobs) if (late !== undefined) told.push(late);
        return listed.structured;
      });
      await look("pins", async () => [...new PinRows((await runtime.store()).db).pinsOf(MAPS)]);
      await look("plugins", async () =>
        (await runtime.store()).db.prepare("SELECT * FROM plugin_trust").all(),
      );
    } finally {
      await runtime.close();
    }
    return true;
  });
  await look("permissions", async () => {
    const table = await loadPermissions({ home, systemDir: join(home, "no-etc"), project: undefined });
    told.push(...table.problems.map(({ message }) => message));
    if (table.broken !== undefined) told.push(table.broken);
    return [...table.global, ...(table.authorityOf("default")?.levels ?? [])].map(({ allow, deny }) => ({
      allow: allow.map(({ text }) => text),
      deny: deny.map(({ text }) => text),
    }));
  });
  await look("trusted", () => trustedFolders(home));
  await look("confirmed", async () => [...(await readConfirmed(home))]);
  await look("grants", () => {
    const state = new GrantState({ home, now: Date.now, onTrouble: (message) => void told.push(message) });
    return ["npm test", "git status"].map((id) => [state.usesOf(id), state.lastUseOf(id)]);
  });
  await look("approvals", async () => {
    const log = loggerTo((line) => void told.push(line));
    await (await openApprovals({ home, stateDb: paths.stateDb, log })).close();
  });
  await look("key", () => readFileSync(join(home, "approvals.key"), "utf8"));
  // Another token than before lets nobody in; those who read the file get along.
  await look("token", async () => (await resolveToken({ configured: "", file: paths.serverToken })).source);
  await look("skills", () => new SkillRegister(paths.skills).read());
  await look("memory", async () => (await memoryOf(home).read("memory")).entries);
  await look("conversations", async () => {
    const conversations = await openConversations(paths);
    try {
      told.push(...conversations.notices);
      const all = await conversations.list({});
      const messages = await Promise.all(all.map(({ id }) => conversations.messages(id)));
      const { length } = await conversations.search({ words: "message", limit: 30 });
      return { titles: all.map(({ title }) => title), messages, found: length };
    } finally {
      await conversations.close();
    }
  });
  await look("gateways", async () => {
    const gateways = await openGatewayStore(paths.gatewaysDb);
    told.push(...gateways.notices);
    try {
      return Array.from({ length: CHATS }, (_, at) => [
        gateways.inbox.next("telegram", `c${at}`)?.message,
        gateways.outbox.next("telegram", `c${at}`)?.part,
        gateways.people.list(),
      ]);
    } finally {
      await gateways.close();
    }
  });
  return { facts, told, works };
}

function openRuntime(home: string, tell: (line: string) => void) {
  // Beside the home: what lies inside belongs to Hermes.
  const cwd = join(home, "..", "work");
  writeFileSync(join(cwd, "steady.txt"), "steady\n");
  return createRuntime({
    home,
    cwd,
    env: { PATH: process.env.PATH, HOME: home },
    systemDir: join(home, "no-etc"),
    registry: new ToolRegistry(),
    logger: loggerTo(tell),
  });
}

function loggerTo(tell: (line: string) => void) {
  return createLogger({ level: "warn", sink: tell });
}

function memoryOf(home: string): MemoryFiles {
  return new MemoryFiles({
    folder: hermesPaths(home).memories,
    maxChars: { memory: 2_000, user: 2_000 },
    session: "s",
  });
}
