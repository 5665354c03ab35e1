import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { hermes, hermesJson, json, linesOf, root, tempFolder } from "./hermes.js";

interface Listed {
  readonly name: string;
  readonly toolset: string;
  readonly enabled: boolean;
  readonly available: boolean;
}

interface Definition {
  readonly function: { readonly name: string };
}

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const home = tempFolder();
const names = (definitions: readonly Definition[]) => definitions.map(({ function: { name } }) => name);

beforeAll(async () => {
  const stdin = JSON.stringify({
    tool_calls: [
      { id: "1", function: { name: "sleep", arguments: { seconds: 0 } } },
      { id: "2", function: { name: "sleep", arguments: { seconds: 0.001 } } },
      { id: "3", function: { name: "read_file", arguments: { path: "missing.txt" } } },
    ],
  });
  await hermes(["run"], { home, stdin });
});

describe("every command speaks to people and to programs", () => {
  it("hermes: what is here, and what to try", async () => {
    const [people, program] = await Promise.all([hermes([], { home }), hermesJson([], { home })]);
    expect(people.stdout).toContain(`Hermes Tools ${version}`);
    expect(people.stdout).toMatch(/\d+ tools: \d+ ready/);
    expect(people.stdout).toContain("hermes call system_info");
    expect(program).toMatchObject({ version, environment: "local", profile: "default", home });
  });

  it("hermes --version and --help", async () => {
    const [short, long, help] = await Promise.all([hermes(["-V"]), hermes(["--version"]), hermes(["help"])]);
    expect([short.stdout, long.stdout]).toEqual([`${version}\n`, `${version}\n`]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    for (const command of [
      "call",
      "run",
      "tools",
      "toolsets",
      "doctor",
      "config",
      "stats",
      "completion",
      "serve",
    ])
      expect(help.stdout).toContain(`  ${command}`);
  });

  it("tools list: the bare word means the list, --jsonl is one tool per line", async () => {
    const [people, listed, lines] = await Promise.all([
      hermes(["tools"], { home }),
      hermesJson<Listed[]>(["tools", "list"], { home }),
      hermes(["tools", "list", "--jsonl"], { home }),
    ]);
    expect(listed.map((tool) => tool.name)).toEqual(
      expect.arrayContaining(["http_request", "patch", "read_file", "search_files", "sleep", "system_info"]),
    );
    for (const { name } of listed) expect(people.stdout).toContain(name);
    expect(linesOf(lines.stdout).map((line) => (JSON.parse(line) as Listed).name)).toEqual(
      listed.map((tool) => tool.name),
    );
  });

  it("tools info: one tool, by any of its names", async () => {
    const [people, program] = await Promise.all([
      hermes(["tools", "info", "file_read"], { home }),
      hermesJson(["tools", "info", "file_read"], { home }),
    ]);
    expect(people.stdout).toContain("read_file(path: string");
    expect(program).toMatchObject({ name: "read_file", toolset: "file", parameters: { required: ["path"] } });
  });

  it("tools schema: every provider's own form, the same tools in each", async () => {
    const forms: readonly [string, (value: never) => readonly string[]][] = [
      ["openai", (value: readonly Definition[]) => names(value)],
      ["responses", (value: readonly { name: string }[]) => value.map(({ name }) => name)],
      [
        "anthropic",
        (value: readonly { name: string; input_schema: unknown }[]) => value.map(({ name }) => name),
      ],
      [
        "gemini",
        (value: { functionDeclarations: { name: string }[] }) =>
          value.functionDeclarations.map(({ name }) => name),
      ],
      [
        "mcp",
        (value: { tools: { name: string }[] } | { name: string }[]) =>
          ("tools" in value ? value.tools : value).map(({ name }) => name),
      ],
    ];
    const found = await Promise.all(
      forms.map(async ([format, read]) =>
        read((await hermesJson(["tools", "schema", "--format", format], { home })) as never),
      ),
    );
    expect(found[0]?.length).toBeGreaterThan(5);
    for (const list of found) expect(list).toEqual(found[0]);
  });

  it("tools schema: only the named tools, and never more than the session would offer", async () => {
    const one = await hermesJson<Definition[]>(["tools", "schema", "file_read"], { home });
    expect(names(one)).toEqual(["read_file"]);
    const hidden = await hermes(["-t", "timing", "tools", "schema", "read_file"], { home });
    expect(JSON.parse(hidden.stdout)).toEqual([]);
    expect(hidden.stderr).toContain("not offered");
  });

  it("tools explain agrees with tools schema, whatever is switched on", async () => {
    for (const flags of [[], ["-t", "file"], ["-t", "timing,terminal"]]) {
      const [explained, definitions] = await Promise.all([
        hermesJson<{ name: string; offered: boolean; because: string }[]>([...flags, "tools", "explain"], {
          home,
        }),
        hermesJson<Definition[]>([...flags, "tools", "schema"], { home }),
      ]);
      expect(explained.filter((row) => row.offered).map((row) => row.name)).toEqual(names(definitions));
      for (const row of explained) expect(row.because).not.toBe("");
    }
    const people = await hermes(["-t", "file", "tools", "explain", "sleep"], { home });
    expect(people.stdout).toContain("no enabled toolset contains it");
  });

  it("tools size: counts the tools of schema, and its parts add up", async () => {
    const [size, definitions, people] = await Promise.all([
      hermesJson<{
        total: { tools: number; tokens: number };
        tools: { tokens: number }[];
        toolsets: Record<string, { tokens: number }>;
      }>(["tools", "size"], { home }),
      hermesJson<Definition[]>(["tools", "schema"], { home }),
      hermes(["tools", "size"], { home }),
    ]);
    const sum = (rows: readonly { tokens: number }[]) =>
      rows.reduce((total, { tokens }) => total + tokens, 0);
    expect(size.total.tools).toBe(definitions.length);
    expect(sum(size.tools)).toBe(size.total.tokens);
    expect(sum(Object.values(size.toolsets))).toBe(size.total.tokens);
    expect(people.stdout).toContain(`${size.total.tokens} tokens`);
  });

  it("toolsets: all of them, and what one holds", async () => {
    const [all, one, people] = await Promise.all([
      hermesJson<{ name: string; resolved: string[] }[]>(["toolsets"], { home }),
      hermesJson(["toolsets", "file"], { home }),
      hermes(["toolsets", "file"], { home }),
    ]);
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(["file", "terminal", "timing"]));
    expect(one).toMatchObject({ resolved: ["patch", "read_file", "search_files", "write_file"] });
    expect(linesOf(people.stdout)).toHaveLength(4);
  });

  it("stats: what was called, how often, and what failed", async () => {
    const [people, program] = await Promise.all([
      hermes(["stats"], { home }),
      hermesJson<{ tools: { tool: string; calls: number; errors: number }[] }>(["stats"], { home }),
    ]);
    const of = (name: string) => program.tools.find(({ tool }) => tool === name);
    expect(of("sleep")).toMatchObject({ calls: 2, errors: 0 });
    expect(of("read_file")).toMatchObject({
      calls: 1,
      errors: 1,
      last_error: expect.stringContaining("missing.txt"),
    });
    expect(people.stdout).toMatch(/sleep\s+2\s+0/);
    const empty = await hermes(["stats"], { home: tempFolder() });
    expect(empty.stdout).toContain("No calls");
  });

  it("config path and config get: where things are, and where each value comes from", async () => {
    writeFileSync(join(home, "config.yaml"), "# mine\nlog:\n  level: error\n");
    const [paths, shown, flagged] = await Promise.all([
      hermesJson(["config", "path"], { home }),
      hermesJson(["config", "get", "log.level", "--show-origin"], { home }),
      hermes(["--timeout", "7", "config", "get", "tools.timeout_seconds", "--show-origin"], { home }),
    ]);
    expect(paths).toMatchObject({ home, config: join(home, "config.yaml") });
    expect(shown).toMatchObject({ value: "error", origin: { file: join(home, "config.yaml"), line: 3 } });
    expect(flagged.stdout).toContain("7  (flag --timeout)");
  });

  it("--home is the same as HERMES_HOME, and wins over it", async () => {
    const other = tempFolder();
    expect(json(await hermes(["--home", other, "--json"], { home }))).toMatchObject({ home: other });
  });
});
