import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseDotenv } from "../../src/config/dotenv.js";
import { writeSecret } from "../../src/config/edit.js";
import { loadConfig } from "../../src/config/load.js";
import { isTrusted } from "../../src/config/trust.js";
import { tempDir } from "../support/runtime.js";

const TEXT =
  "approvals:\n  deny: [shutdown *, reboot *]\n  timeout: 12\nsecurity:\n  url_allowlist: [example.com]\n";

async function after(change: (text: string) => string | Buffer) {
  const home = tempDir();
  const path = join(home, "config.yaml");
  const load = () => loadConfig({ home, cwd: home, env: { HOME: home }, systemDir: join(home, "no-etc") });
  writeFileSync(path, TEXT);
  await load();
  writeFileSync(path, change(TEXT));
  return { home, loaded: await load() };
}

it("one flipped bit is told, and the last good version stays in force", async () => {
  const { loaded } = await after((text) => text.replace("shutdown", "shutdo7n"));
  expect(loaded.values.approvals.deny).toEqual(["shutdown *", "reboot *"]);
  expect(loaded.problems).toMatchObject([
    { severity: "error", line: 2, message: expect.stringContaining("one bit") },
  ]);
});

it("another number, and any larger change, is an edit", async () => {
  const number = await after((text) => text.replace("12", "13"));
  expect(number.loaded).toMatchObject({ problems: [], values: { approvals: { timeout: 13 } } });
  const words = await after((text) => text.replace("reboot", "halt"));
  expect(words.loaded).toMatchObject({
    problems: [],
    values: { approvals: { deny: ["shutdown *", "halt *"] } },
  });
});

it("lines that are gone from the end are taken as gone, told, and kept", async () => {
  const { home, loaded } = await after((text) => text.slice(0, text.indexOf("security")));
  expect(loaded.values.security.url_allowlist).toEqual([]);
  expect(loaded.problems).toMatchObject([
    {
      severity: "warning",
      message: expect.stringContaining(
        'the last 2 lines that this file held before are gone, from "security:',
      ),
    },
  ]);
  const folder = join(home, "cache", "config.last-good");
  const kept = readdirSync(folder).filter((name) => name.endsWith(".before"));
  expect(kept.map((name) => readFileSync(join(folder, name), "utf8"))).toEqual([TEXT]);
});

it("half a line of trusted_folders trusts nothing around the folder that was meant", async () => {
  const home = tempDir();
  const folder = join(home, "a", "project");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, "trusted_folders"), `${folder}\n${home}`);
  expect(isTrusted({ home, folder })).toBe(true);
  expect(isTrusted({ home, folder: join(home, "a") })).toBe(false);
  const { problems } = await loadConfig({
    home,
    cwd: home,
    env: { HOME: home },
    systemDir: join(home, "no-etc"),
  });
  expect(problems).toMatchObject([{ message: expect.stringContaining("ends in the middle of a line") }]);
});

it("lines of .env that say nothing, values that are not closed and a cut end are told", async () => {
  const told = async (text: string) => {
    const home = tempDir();
    writeFileSync(join(home, ".env"), text, { mode: 0o600 });
    const { problems } = await loadConfig({
      home,
      cwd: home,
      env: { HOME: home },
      systemDir: join(home, "no-etc"),
    });
    return problems.map(({ message, line }) => `${line}: ${message}`);
  };
  expect(await told("# keys\nA=1\nexport B='two\nlines'\n\nC = 3\n")).toEqual([]);
  expect(await told("A=1\nB}2\n")).toEqual(["2: this line is no NAME=value and is ignored"]);
  expect(await told("two words\nC=3\n")).toEqual(["1: this line is no NAME=value and is ignored"]);
  expect(await told("A='1\nB=2\n")).toEqual(["1: the ' that begins this value is never closed"]);
  expect(await told("A=1\nB=2")).toEqual([
    "2: the file ends without a line break, so that its last value may be cut off",
  ]);
});

it("a line of .env that says nothing takes nothing else along, also not the name after it", async () => {
  const home = tempDir();
  const text = "\uFEFFtwo words\r\nA_KEY=1\r\nB}2\r\n\r\nexport B_KEY='x\r\n}'\r\nC_KEY=3\r\n";
  expect(parseDotenv(text)).toEqual({ A_KEY: "1", B_KEY: expect.stringMatching(/^x\r?\n}$/), C_KEY: "3" });
  writeFileSync(join(home, ".env"), "half of a k", { mode: 0o600 });
  expect(await writeSecret({ home, name: "D_KEY", value: "4" })).toMatchObject({ ok: true });
  const loaded = await loadConfig({
    home,
    cwd: home,
    env: { HOME: home },
    systemDir: join(home, "no-etc"),
  });
  expect(loaded.env).toMatchObject({ D_KEY: "4" });
});
