import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { hermes, hermesJson, tempFolder } from "./hermes.js";

interface Report {
  readonly tool: string;
  readonly arguments_hash: string;
  readonly runs: Record<string, number>;
  readonly outcomes: Record<string, number>;
  readonly violations: readonly { readonly kind: string; readonly what: string; readonly times: number }[];
  readonly remarks: readonly string[];
}

interface Checked {
  readonly ok: boolean;
  readonly reports: readonly Report[];
}

const home = tempFolder();
const broken = join(home, "broken.mjs");

beforeAll(() => {
  const tool = (name: string, handler: string) =>
    `export const ${name} = defineTool({ name: "${name}", description: "Broken", handler: ${handler},
       parameters: { type: "object", properties: { count: { type: "integer" } } } });`;
  const file = (tools: readonly string[]) =>
    `import { defineTool } from "hermes-tools";\n${tools.join("\n")}\n`;
  writeFileSync(
    broken,
    file([
      tool("throws_text", `() => { throw "text"; }`),
      tool("throws_nothing", "async () => { throw undefined; }"),
      tool("gives_nothing", "() => undefined"),
      tool("forgets", `() => { Promise.reject(new Error("left behind")); return "fine"; }`),
    ]),
  );
  writeFileSync(
    join(home, "hangs.mjs"),
    file([tool("hangs", "() => new Promise(() => setInterval(() => undefined, 1000))")]),
  );
  mkdirSync(join(home, "tools"));
  writeFileSync(
    join(home, "tools", "good.mjs"),
    file([tool("good", `({ count }) => ({ count: count ?? 0 })`)]),
  );
});

describe("hermes tools check", () => {
  it("finds nothing wrong with a sound tool of one's own", async () => {
    const people = await hermes(["tools", "check", "good", "--runs", "5"], { home });
    expect(people).toMatchObject({ code: 0, stderr: "" });
    expect(people.stdout).toMatch(/good: 26 calls .* 0 problems, seed \d+/);
  });

  it.each(["sleep", "read_file", "write_file", "search_files", "todo"])(
    "finds nothing wrong with %s, and its code was really run",
    async (tool) => {
      const checked = await hermesJson<Checked>(["tools", "check", tool, "--runs", "4", "--seed", "3"], {
        home,
      });
      expect(checked.reports[0]?.violations).toEqual([]);
      expect(checked.reports[0]?.remarks).toEqual([]);
      expect(checked).toMatchObject({ ok: true });
    },
  );

  it("says when only its worked examples ran because random arguments are too dangerous for it", async () => {
    const { reports } = await hermesJson<Checked>(["tools", "check", "terminal", "--runs", "3"], { home });
    expect(reports[0]?.outcomes.ok).toBe(reports[0]?.runs["worked example"]);
    expect(reports[0]?.remarks).toEqual([expect.stringContaining("worked examples only")]);
  });

  it("says when a tool of one's own was never run; its examples are nobody's word that they are harmless", async () => {
    const file = join(tempFolder(), "reach.mjs");
    writeFileSync(
      file,
      `import { defineTool } from "hermes-tools";
export default defineTool({ name: "reach", description: "Reaches out", permissions: ["network:fetch"],
  parameters: { type: "object", properties: {} }, handler: () => "x",
  examples: [{ title: "All", arguments: {}, result: {} }] });\n`,
    );
    const { reports } = await hermesJson<Checked>(["tools", "check", file, "--runs", "2"], { home });
    expect(reports[0]?.outcomes.ok).toBeUndefined();
    expect(reports[0]?.remarks).toEqual([expect.stringContaining("never ran")]);
  });

  it("reports what every broken tool of a file does wrong", async () => {
    const done = await hermes(["tools", "check", broken, "--runs", "3", "--json"], { home });
    expect(done.code).toBe(3);
    const { reports } = JSON.parse(done.stdout) as Checked;
    const wrong = (name: string) =>
      reports
        .find(({ tool }) => tool === name)
        ?.violations.map(({ what }) => what)
        .join("\n");
    expect(wrong("throws_text")).toContain("not an Error (string)");
    expect(wrong("throws_nothing")).toContain("not an Error (undefined)");
    expect(wrong("gives_nothing")).toContain("returned undefined");
    expect(wrong("forgets")).toContain("left behind");
    const people = await hermes(["tools", "check", broken, "--runs", "3"], { home });
    expect(people.code).toBe(3);
    expect(people.stdout).toContain("gives_nothing");
  });

  it("reports a tool that does not stop when told to, and does not wait for it forever", async () => {
    const started = Date.now();
    const done = await hermes(["tools", "check", join(home, "hangs.mjs"), "--json"], { home });
    expect(done.code).toBe(3);
    const [report] = (JSON.parse(done.stdout) as Checked).reports;
    expect(report?.violations[0]?.what).toContain("after it was told to stop");
    expect(report?.remarks).toEqual([expect.stringContaining("given up")]);
    expect(Date.now() - started).toBeLessThan(25_000);
  });

  it("sends the same calls for the same seed, and others for another", async () => {
    const hash = async (seed: string) =>
      (await hermesJson<Checked>(["tools", "check", "good", "--runs", "5", "--seed", seed], { home }))
        .reports[0]?.arguments_hash;
    const [first, again, other] = await Promise.all([hash("11"), hash("11"), hash("12")]);
    expect(first).toMatch(/^[0-9a-f]+$/);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it("with --all tries every tool that is available, and fails when one does", async () => {
    const own = tempFolder();
    const cwd = tempFolder();
    mkdirSync(join(own, "tools"));
    writeFileSync(
      join(own, "tools", "bad.mjs"),
      `import { defineTool } from "hermes-tools";
export default defineTool({ name: "bad", description: "Broken", handler: () => undefined,
  parameters: { type: "object", properties: {} } });\n`,
    );
    const done = await hermes(["tools", "check", "--all", "--runs", "1", "--json"], { home: own, cwd });
    const { ok, reports, never_ran, examples_only, skipped } = JSON.parse(done.stdout) as Checked & {
      readonly never_ran: readonly string[];
      readonly examples_only: readonly string[];
      readonly skipped: readonly { readonly name: string; readonly fix?: string }[];
    };
    const broken = reports.filter(({ violations }) => violations.length > 0);
    expect(broken.map(({ tool }) => tool)).toEqual(["bad"]);
    expect([done.code, ok]).toEqual([3, false]);
    expect(reports.map(({ tool }) => tool)).toEqual(
      expect.arrayContaining(["sleep", "read_file", "terminal"]),
    );
    expect(skipped).toContainEqual(expect.objectContaining({ name: "ha_get_state", fix: "HASS_TOKEN=..." }));
    expect(reports.some(({ tool }) => tool === "ha_get_state")).toBe(false);
    // What ran with harmless arguments only, or not at all, is told apart.
    expect(examples_only).toContain("terminal");
    expect(examples_only).not.toContain("todo");
    expect(reports.find(({ tool }) => tool === "terminal")?.runs["worked example"]).toBeGreaterThan(0);
    expect(never_ran).not.toContain("terminal");
  }, 240_000);

  it("without a name, or with one and --all, it says how it is meant", async () => {
    for (const words of [[], ["sleep", "--all"]]) {
      const done = await hermes(["tools", "check", ...words], { home });
      expect(done.code).toBe(2);
      expect(done.stderr).toContain("hermes tools check --all");
    }
  });

  it("leaves nothing behind, neither in the home nor among temporary files", async () => {
    const other = tempFolder();
    await hermes(["tools", "check", "write_file", "--runs", "3"], {
      home: other,
      cwd: other,
      env: { TMPDIR: other },
    });
    expect(readdirSync(other).filter((name) => name.startsWith("hermes-check-"))).toEqual([]);
    expect(existsSync(join(other, "state.db"))).toBe(false);
  });
});
