import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import * as tar from "tar";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { homeEntries } from "../../src/cli/backup/home-files.js";
import { manifestText, sha256Of } from "../../src/cli/backup/manifest.js";
import { openDatabase } from "../../src/store/sqlite-driver.js";
import { errorLine, hermes, hermesJson, start, tempFolder, until } from "./hermes.js";

const TOKEN = "sk-made-up-5f2c9a7d4b";
const CONFIG = `# my settings\nmodel:\n  api_key: ${TOKEN}   # written here by hand\n`;

interface Made {
  readonly files: number;
  readonly sha256: string;
  readonly databases: Readonly<Record<string, number>>;
  readonly masked: readonly string[];
}

/** A home somebody has worked with: settings, a secret, a skill, notes, a job, a call in the journal. */
async function usedHome(): Promise<string> {
  const home = join(tempFolder(), "home");
  for (const folder of ["skills/greet", "memories", "cache", "models"])
    mkdirSync(join(home, folder), { recursive: true });
  writeFileSync(join(home, "config.yaml"), CONFIG);
  writeFileSync(join(home, ".env"), `OPENAI_API_KEY=${TOKEN}\n`, { mode: 0o600 });
  writeFileSync(
    join(home, "skills/greet/SKILL.md"),
    "---\nname: greet\ndescription: says hello\n---\nHello.\n",
  );
  writeFileSync(join(home, "memories/MEMORY.md"), "likes tea");
  writeFileSync(join(home, "cache/big"), "can be made again");
  symlinkSync("memories/MEMORY.md", join(home, "notes-link"));
  await hermes(["cron", "add", "every 2h", "--tool", "system_info", "--name", "look"], { home });
  await hermes(["call", "sleep", "seconds=0"], { home });
  return home;
}

async function homeWithBackupInside(): Promise<string> {
  const home = tempFolder();
  mkdirSync(join(home, "memories"));
  writeFileSync(join(home, ".env"), `OPENAI_API_KEY=${TOKEN}\n`);
  writeFileSync(join(home, "notes.gz"), gzipSync("no backup"));
  await hermesJson(["backup", join(home, "full.tgz"), "--secrets"], { home });
  return home;
}

function copyOf(folder: string): string {
  const copy = join(tempFolder(), "home");
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

async function unpacked(file: string): Promise<string> {
  const folder = tempFolder();
  await tar.extract({ file, cwd: folder });
  return folder;
}

function allBytes(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1")).join("\n");
}

let home: string;
let file: string;
let made: Made;
beforeAll(async () => {
  home = await usedHome();
  file = join(tempFolder(), "backup.tgz");
  made = await hermesJson<Made>(["backup", file], { home });
}, 60_000);

describe("hermes backup", () => {
  it("holds settings, skills, memory, links and whole databases, and nothing that can be made again", async () => {
    const content = join(await unpacked(file), "home");
    expect(readdirSync(content)).toEqual(
      expect.arrayContaining(["config.yaml", "memories", "skills", "state.db"]),
    );
    expect(readdirSync(content)).not.toContain("cache");
    expect(made.databases["state.db"]).toBeGreaterThan(0);
    const db = openDatabase(join(content, "state.db"));
    expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    expect(db.prepare("SELECT name FROM cron_jobs").all()).toEqual([{ name: "look" }]);
    db.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("has no secret in it, also not one that stands in the settings, unless asked", async () => {
    const folder = await unpacked(file);
    expect(allBytes(folder)).not.toContain(TOKEN);
    expect(made.masked).toEqual(["config.yaml"]);
    const whole = join(tempFolder(), "whole.tgz");
    await hermesJson(["backup", whole, "--secrets"], { home });
    const content = join(await unpacked(whole), "home");
    expect(readFileSync(join(content, ".env"), "utf8")).toContain(TOKEN);
    expect(readFileSync(join(content, "config.yaml"), "utf8")).toBe(CONFIG);
  });

  it("keeps what only names a secret, so that what is restored works with the .env of then", async () => {
    const home = tempFolder();
    const reference = "$" + "{MCP_GH_TOKEN}";
    const config = `mcp_servers:\n  gh: { command: x, env: { GITHUB_TOKEN: "${reference}" } }\n  web: { url: https://mcp.invalid, headers: { authorization: "Bearer ${reference}" } }\n`;
    writeFileSync(join(home, "config.yaml"), config);
    writeFileSync(join(home, ".env"), `MCP_GH_TOKEN=${TOKEN}\n`, { mode: 0o600 });
    writeFileSync(join(home, "notes.md"), `it was ${TOKEN}`);
    const file = join(tempFolder(), "references.tgz");
    const { masked } = await hermesJson<Made>(["backup", file], { home });
    expect(masked).toEqual(["notes.md"]);
    expect(readFileSync(join(await unpacked(file), "home/config.yaml"), "utf8")).toBe(config);
  });

  it("is not made without secrets when nobody can tell which stand in the settings", async () => {
    const home = tempFolder();
    writeFileSync(join(home, "config.yaml"), `model:\n  api_key: ${TOKEN}\n  : [broken\n`);
    const file = join(tempFolder(), "home.tgz");
    const refused = await hermes(["backup", file, "--json"], { home });
    expect(refused.code).toBe(2);
    expect(errorLine(refused)).toMatchObject({
      message: expect.stringContaining("config.yaml cannot be read"),
    });
    expect(existsSync(file)).toBe(false);
    await hermesJson(["backup", file, "--secrets"], { home });
    expect(existsSync(file)).toBe(true);
  });

  it("leaves out earlier backups, whose secrets would be in it", async () => {
    const home = await homeWithBackupInside();
    const { files } = await hermesJson<Made>(["backup", join(home, "memories/plain.tar.gz")], { home });
    const again = join(tempFolder(), "again.tgz");
    expect((await hermesJson<Made>(["backup", again], { home })).files).toBe(files);
    const folder = await unpacked(again);
    expect(existsSync(join(folder, "home/full.tgz"))).toBe(false);
    expect(readFileSync(join(folder, "home/notes.gz"))).toEqual(gzipSync("no backup"));
    expect(allBytes(folder)).not.toContain(TOKEN);
  });

  it("has the files of people, whatever they are called: locks and logs are only those of this home", async () => {
    const home = tempFolder();
    const theirs = [
      "restore-db.ts",
      "yarn.lock",
      "Cargo.lock",
      "notes.tmp",
      "a.corrupt-1",
      "my-journal",
      "x-wal",
    ];
    mkdirSync(join(home, "skills/x"), { recursive: true });
    mkdirSync(join(home, "my-journal"));
    writeFileSync(join(home, "my-journal/monday.md"), "rain");
    for (const name of theirs) writeFileSync(join(home, "skills/x", name), name);
    for (const name of ["restore-db.ts", "note-wal"]) writeFileSync(join(home, name), name);
    for (const name of ["config.yaml.lock", "state.db.format-3", "before-restore-20260101T000000Z"])
      writeFileSync(join(home, name), "ours");
    const db = openDatabase(join(home, "skills/x/facts.sqlite"));
    db.exec("PRAGMA journal_mode = WAL; CREATE TABLE facts (text); INSERT INTO facts VALUES ('tea')");
    const taken = join(tempFolder(), "theirs.tgz");
    await hermesJson(["backup", taken], { home });
    db.close();
    const content = join(await unpacked(taken), "home");
    expect(readdirSync(join(content, "skills/x")).sort()).toEqual([...theirs, "facts.sqlite"].sort());
    expect(readdirSync(content).sort()).toEqual(["my-journal", "note-wal", "restore-db.ts", "skills"]);
    expect((await hermes(["restore", taken, "--yes"], { home })).code).toBe(0);
    expect(readFileSync(join(home, "note-wal"), "utf8")).toBe("note-wal");
  });

  it("goes on when files and folders leave while it looks", async () => {
    const home = tempFolder();
    for (const folder of ["b-drafts", "d"]) mkdirSync(join(home, folder));
    for (const name of ["a", "b-drafts/x", "c", "d/y"]) writeFileSync(join(home, name), name);
    const seen: string[] = [];
    for await (const { path } of homeEntries(home, { secrets: false })) {
      for (const name of ["b-drafts", "c"]) rmSync(join(home, name), { recursive: true, force: true });
      seen.push(path);
    }
    expect(seen).toEqual(["a", "d/y"]);
  });

  it("leaves a text where a secret stood in settings, and restore says where, with what to do", async () => {
    const home = tempFolder();
    const password = "correct-horse-battery";
    writeFileSync(join(home, ".env"), `DB_PASSWORD=${password}\n`);
    writeFileSync(
      join(home, "config.yaml"),
      `model:\n  api_key: ${TOKEN}   # was ${TOKEN}\nmcp_servers:\n  a: { command: x, args: [--key, ${TOKEN}, "${TOKEN}", k=${TOKEN}], env: { A_TOKEN: &a ${TOKEN}, B: *a } }\n  b:\n    command: run ${password}\n    args:\n      - ${password}\n      - '${TOKEN}'\n`,
    );
    writeFileSync(join(home, "broken.yml"), `a: [${password}\n`);
    const file = join(tempFolder(), "masked.tgz");
    const { masked } = await hermesJson<Made>(["backup", file], { home });
    expect(masked).toEqual(["broken.yml", "config.yaml"]);
    const folder = await unpacked(file);
    expect(allBytes(folder)).not.toMatch(new RegExp(`${TOKEN}|${password}`));
    const text = readFileSync(join(folder, "home/config.yaml"), "utf8");
    const key = "[REDACTED:mcp_servers.a.env.A_TOKEN]";
    expect(parse(text)).toEqual({
      model: { api_key: key },
      mcp_servers: {
        a: { command: "x", args: ["--key", key, key, `k=${key}`], env: { A_TOKEN: key, B: key } },
        b: { command: "run [REDACTED:DB_PASSWORD]", args: ["[REDACTED:DB_PASSWORD]", key] },
      },
    });
    expect(text).toContain(`"${key}"   # was ${key}\n`);
    const manifest = JSON.parse(readFileSync(join(folder, "hermes-backup.json"), "utf8"));
    expect(manifest.masked).toEqual(masked);

    const fresh = tempFolder();
    const told = await hermes(["restore", file, "--yes"], { home: fresh });
    expect(told.stdout + told.stderr).toMatch(/config\.yaml.*\n?.*\[REDACTED.*\.env/);
    const again = await hermesJson<Made>(["restore", file, "--yes"], { home: fresh });
    expect(again.masked).toEqual(masked);
    expect((await hermes(["config", "check"], { home: fresh })).code).toBe(0);
  });

  it("replaces no file without a yes", async () => {
    const again = await hermes(["backup", file, "--json"], { home });
    expect(again.code).toBe(2);
    expect(errorLine(again).message).toContain("exists already");
    const folder = await hermes(["backup", tempFolder(), "--yes", "--json"], { home });
    expect(errorLine(folder)).toMatchObject({ code: "bad_request", hint: "Name a file in it." });
  });

  it("is one moment of a home in which a server is writing, and is not restored under it", async () => {
    const busy = copyOf(home);
    const server = start(["serve", "--port", "0", "--json"], { home: busy });
    let said = "";
    server.stdout?.on("data", (chunk: Buffer) => {
      said += chunk;
    });
    await until(() => said.includes("\n"), "the server to start");
    const { url } = JSON.parse(said) as { readonly url: string };
    const token = readFileSync(join(busy, "server.token"), "utf8").trim();
    let writing = true;
    const writer = (async () => {
      for (let count = 0; writing; count++) {
        const body = JSON.stringify({
          tool_calls: [{ id: `c${count}`, function: { name: "sleep", arguments: { seconds: 0 } } }],
        });
        await (
          await fetch(new URL("/v1/tool_calls", url), {
            method: "POST",
            headers: { authorization: `Bearer ${token}` },
            body,
          })
        ).text();
      }
    })();
    const taken = join(tempFolder(), "busy.tgz");
    await hermesJson(["backup", taken], { home: busy });
    writing = false;
    await writer;
    const db = openDatabase(join(await unpacked(taken), "home", "state.db"));
    expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    db.close();
    const refused = await hermes(["restore", taken, "--yes", "--json"], { home: busy });
    expect(refused.code).toBe(4);
    expect(errorLine(refused).message).toContain(`process ${server.pid}`);
    server.kill("SIGTERM");
    await until(() => server.exitCode !== null, "the server to end");
    expect((await hermes(["restore", taken, "--yes"], { home: busy })).code).toBe(0);
  }, 60_000);
});

describe("hermes restore", () => {
  it("shows what would go, asks, puts everything back, and keeps what was there", async () => {
    const lost = copyOf(home);
    writeFileSync(join(lost, "memories/MEMORY.md"), "likes coffee");
    writeFileSync(join(lost, "later.txt"), "made after the backup");
    writeFileSync(join(lost, "models/weights"), "large");
    rmSync(join(lost, "skills"), { recursive: true });

    const plan = await hermesJson<Record<string, unknown>>(["restore", file, "--dry-run"], { home: lost });
    expect(plan).toMatchObject({
      ok: true,
      dry_run: true,
      added: ["skills"],
      removed: ["later.txt"],
      kept: null,
    });
    expect(plan.replaced).toEqual(expect.arrayContaining(["config.yaml", "memories", "state.db"]));
    const unasked = await hermes(["restore", file], { home: lost });
    expect(unasked.code).toBe(5);
    expect(readFileSync(join(lost, "memories/MEMORY.md"), "utf8")).toBe("likes coffee");

    const done = await hermesJson<{ readonly kept: string }>(["restore", file, "--yes"], { home: lost });
    expect(readFileSync(join(lost, "memories/MEMORY.md"), "utf8")).toBe("likes tea");
    expect(readFileSync(join(lost, "notes-link"), "utf8")).toBe("likes tea");
    expect(readFileSync(join(lost, ".env"), "utf8")).toContain(TOKEN);
    expect(readFileSync(join(lost, "models/weights"), "utf8")).toBe("large");
    expect(readdirSync(lost).filter((name) => name.startsWith(".restore-") || name === "later.txt")).toEqual(
      [],
    );
    expect(readFileSync(join(done.kept, "memories/MEMORY.md"), "utf8")).toBe("likes coffee");
    expect(readFileSync(join(done.kept, "later.txt"), "utf8")).toBe("made after the backup");
    const jobs = await hermesJson<readonly { readonly name: string }[]>(["cron", "list"], { home: lost });
    expect(jobs.map(({ name }) => name)).toEqual(["look"]);
    const skills = await hermes(["skills", "list", "--json"], { home: lost });
    expect(skills.stdout).toContain("says hello");
  }, 60_000);

  it("works into a home that is not there yet", async () => {
    const fresh = join(tempFolder(), "with blanks", "home");
    expect((await hermes(["restore", file, "--yes", "--home", fresh])).code).toBe(0);
    expect(readFileSync(join(fresh, "memories/MEMORY.md"), "utf8")).toBe("likes tea");
  });

  it("leaves no trace of a home that was not there when it only shows, is not confirmed or is damaged", async () => {
    const folder = tempFolder();
    const fresh = join(folder, "new", "home");
    const broken = join(tempFolder(), "broken.tgz");
    writeFileSync(broken, "no archive");
    const words = [[file, "--dry-run"], [file], [broken, "--yes"]];
    for (const given of words) await hermes(["restore", ...given, "--home", fresh]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("names what is no file", async () => {
    const home = tempFolder();
    const missing = await hermes(["restore", join(home, "nothing.tgz"), "--json"], { home });
    const folder = await hermes(["restore", home, "--json"], { home });
    expect(errorLine(missing)).toMatchObject({ code: "not_found", hint: expect.stringContaining("backup") });
    expect(errorLine(folder).message).toContain("is a folder");
  });

  it("changes nothing when the backup has a file that it does not list", async () => {
    const folder = await unpacked(file);
    writeFileSync(join(folder, "home/memories/USER.md"), "trusts everybody");
    const more = join(tempFolder(), "more.tgz");
    await tar.create({ file: more, cwd: folder, gzip: true }, readdirSync(folder));
    const fresh = tempFolder();
    const refused = await hermes(["restore", more, "--yes", "--json"], { home: fresh });
    expect(errorLine(refused)).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("does not list memories/USER.md"),
    });
    expect(readdirSync(fresh)).toEqual([]);
  });

  it("changes nothing when a file of the backup is not the one that was packed", async () => {
    const folder = await unpacked(file);
    writeFileSync(join(folder, "home/memories/MEMORY.md"), "likes teä");
    const damaged = join(tempFolder(), "damaged.tgz");
    await tar.create({ file: damaged, cwd: folder, gzip: true }, readdirSync(folder));
    const fresh = tempFolder();
    const refused = await hermes(["restore", damaged, "--yes", "--json"], { home: fresh });
    expect(refused.code).toBe(2);
    expect(errorLine(refused).message).toContain("memories/MEMORY.md is not what was backed up");
    expect(readdirSync(fresh)).toEqual([]);
    const cut = join(tempFolder(), "cut.tgz");
    writeFileSync(cut, readFileSync(file).subarray(0, 2_000));
    expect((await hermes(["restore", cut, "--yes"], { home: fresh })).code).toBe(2);
  });

  it("goes nowhere but into the home, whatever the backup's list says", async () => {
    const folder = tempFolder();
    const home = join(folder, "one/home");
    mkdirSync(home, { recursive: true });
    const victim = join(folder, "victim");
    writeFileSync(victim, "private", { mode: 0o600 });
    const { sha256: _, ...manifest } = JSON.parse(
      readFileSync(join(await unpacked(file), "hermes-backup.json"), "utf8"),
    );
    const { files } = manifest;
    const wholly = { bytes: 7, mode: 0o777, sha256: await sha256Of(victim) };
    const lists: readonly [Readonly<Record<string, unknown>>, string][] = [
      [{ links: { "../../../../escaped": "/etc/passwd" } }, "../../../../escaped would be outside"],
      [{ links: { out: folder, "out/escaped": "/etc/passwd" } }, "out/escaped would be outside"],
      [{ files: { ...files, "../../../../victim": wholly } }, "../../../../victim would be outside"],
      [{ files: [] }, "its list of files is not one"],
      [{ links: { "notes-link": 1 } }, "its list of files is not one"],
    ];
    for (const [changed, told] of lists) {
      const content = await unpacked(file);
      writeFileSync(join(content, "hermes-backup.json"), manifestText({ ...manifest, ...changed }));
      const forged = join(folder, "forged.tgz");
      await tar.create({ file: forged, cwd: content, gzip: true }, readdirSync(content));
      const refused = await hermes(["restore", forged, "--yes", "--json"], {
        home: join(folder, "one/home"),
      });
      expect(errorLine(refused).message).toContain(told);
      expect(refused.code).toBe(2);
      expect(readdirSync(folder).sort()).toEqual(["forged.tgz", "one", "victim"]);
      expect(readdirSync(home)).toEqual([]);
      expect(statSync(victim).mode & 0o777).toBe(0o600);
    }
  }, 30_000);

  it("keeps what it takes the place of, also a secret that a backup brings without saying so", async () => {
    const { sha256: _, ...manifest } = JSON.parse(
      readFileSync(join(await unpacked(file), "hermes-backup.json"), "utf8"),
    );
    const content = await unpacked(file);
    writeFileSync(join(content, "home/.env"), "A=theirs");
    const added = { bytes: 8, mode: 0o600, sha256: await sha256Of(join(content, "home/.env")) };
    const text = manifestText({ ...manifest, files: { ...manifest.files, ".env": added } });
    writeFileSync(join(content, "hermes-backup.json"), text);
    const forged = join(tempFolder(), "forged.tgz");
    await tar.create({ file: forged, cwd: content, gzip: true }, readdirSync(content));
    const home = join(tempFolder(), "home");
    mkdirSync(home);
    writeFileSync(join(home, ".env"), "A=mine");
    const done = await hermesJson<{ readonly kept: string; readonly replaced: readonly string[] }>(
      ["restore", forged, "--yes"],
      { home },
    );
    expect(done.replaced).toEqual([".env"]);
    expect(readFileSync(join(done.kept, ".env"), "utf8")).toBe("A=mine");
  });

  it("refuses a home whose database another process has open", async () => {
    const used = copyOf(home);
    const other = openDatabase(join(used, "state.db"));
    other.exec("SELECT count(*) FROM calls");
    const refused = await hermes(["restore", file, "--yes", "--json"], { home: used });
    other.close();
    expect(refused.code).toBe(4);
    expect(errorLine(refused).message).toContain("in use by another hermes");
    expect((await hermes(["restore", file, "--yes"], { home: used })).code).toBe(0);
  }, 30_000);

  it("can be told again at once: what the first one kept stays", async () => {
    const again = copyOf(home);
    const kept: string[] = [];
    for (let count = 0; count < 3; count++) {
      const done = await hermesJson<{ readonly kept: string }>(["restore", file, "--yes"], { home: again });
      kept.push(done.kept);
    }
    expect(new Set(kept).size).toBe(3);
    for (const folder of kept) expect(existsSync(join(folder, "config.yaml"))).toBe(true);
  }, 30_000);

  it("is for people: a tool call cannot exchange the home under its own rules", async () => {
    const refused = await hermes(["restore", file, "--yes"], {
      home: tempFolder(),
      env: { AI_AGENT: "hermes" },
    });
    expect(refused.code).toBe(5);
  });
});
