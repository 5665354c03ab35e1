import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withEntry } from "../../src/cli/mcp/client-settings.js";
import { hermes, hermesJson, main, tempFolder } from "./hermes.js";

const FILES = [
  ["claude", ".claude.json", "mcpServers"],
  ["cursor", ".cursor/mcp.json", "mcpServers"],
  ["vscode", ".config/Code/User/mcp.json", "servers"],
  ["zed", ".config/zed/settings.json", "context_servers"],
] as const;

it.runIf(process.platform === "linux")("each client gets an entry that starts this program", async () => {
  const home = tempFolder();
  for (const [client, file, section] of FILES) {
    await hermes(["mcp", "install", client], { home });
    const settings = JSON.parse(readFileSync(join(home, file), "utf8"));
    expect(settings[section].hermes).toMatchObject({
      command: process.execPath,
      args: [main, "mcp", "serve"],
      env: { HERMES_HOME: home },
    });
  }
});

it("comments and other entries stay as they are; a second time changes nothing; another entry is asked about", async () => {
  const home = tempFolder();
  const file = join(home, ".cursor/mcp.json");
  mkdirSync(join(home, ".cursor"));
  writeFileSync(file, '{\n  // mine\n  "mcpServers": {\n    "files": { "command": "x" }, // keep\n  },\n}\n');
  expect(await hermesJson(["mcp", "install", "cursor"], { home })).toMatchObject({ changed: true });
  const text = readFileSync(file, "utf8");
  for (const part of ["// mine", '"files": { "command": "x" }, // keep', '"hermes": {'])
    expect(text).toContain(part);
  expect(await hermesJson(["mcp", "install", "cursor"], { home })).toMatchObject({ changed: false });
  writeFileSync(file, '{ "mcpServers": { "hermes": { "command": "other" } } }');
  expect((await hermes(["mcp", "install", "cursor"], { home })).code).toBe(5);
  expect(readFileSync(file, "utf8")).toContain("other");
  expect((await hermes(["mcp", "install", "cursor", "--yes"], { home })).code).toBe(0);
  expect(readFileSync(file, "utf8")).not.toContain("other");
});

it("--dry-run writes nothing, --project writes into the folder, a broken file is left alone", async () => {
  const [home, project] = [tempFolder(), tempFolder()];
  await hermes(["mcp", "install", "zed", "--dry-run"], { home });
  expect(existsSync(join(home, ".config"))).toBe(false);
  await hermes(["mcp", "install", "vscode", "--project"], { home, cwd: project });
  expect(existsSync(join(project, ".vscode/mcp.json"))).toBe(true);
  writeFileSync(join(home, ".claude.json"), "{ broken");
  const refused = await hermes(["mcp", "install", "claude"], { home });
  expect(refused.code).toBe(3);
  expect(readFileSync(join(home, ".claude.json"), "utf8")).toBe("{ broken");
});

it("an entry is put into empty, nested and one-line settings", () => {
  const place = { section: "servers", name: "h", entry: { command: "c" } };
  for (const text of ["", "{}", '{"servers":{}}', '{ "a": 1 }', '{\n  "servers": { "h": 1, "z": {} }\n}']) {
    const after = withEntry(text, place) ?? "";
    expect(JSON.parse(after).servers.h).toEqual({ command: "c" });
  }
});
