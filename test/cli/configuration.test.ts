import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorLine, hermes, hermesJson, tempFolder } from "./hermes.js";

function homeWith(config: string): string {
  const home = tempFolder();
  writeFileSync(join(home, "config.yaml"), config);
  return home;
}

describe("tools disable and enable", () => {
  it("take a tool out of list, schema and dispatch and bring it back, keeping every comment", async () => {
    const home = homeWith("# first line\nlog:\n  level: warn # because\n# last line\n");
    const file = join(home, "config.yaml");
    expect(await hermes(["tools", "disable", "file_read"], { home })).toMatchObject({ code: 0, stderr: "" });
    const [listed, definitions, called, explained] = await Promise.all([
      hermesJson<{ name: string }[]>(["tools"], { home }),
      hermes(["tools", "schema"], { home }),
      hermes(["call", "read_file", "path=config.yaml", "--json"], { home }),
      hermesJson(["tools", "explain", "read_file"], { home }),
    ]);
    expect(listed.map(({ name }) => name)).not.toContain("read_file");
    expect(definitions.stdout).not.toContain('"name": "read_file"');
    expect(called.code).toBe(4);
    expect(errorLine(called).hint).toContain("disabled");
    expect(explained).toMatchObject({ offered: false, because: expect.stringContaining("disabled") });
    const disabled = readFileSync(file, "utf8");
    for (const comment of ["# first line", "# because", "# last line"]) expect(disabled).toContain(comment);

    expect(await hermesJson(["tools", "disable", "read_file"], { home })).toMatchObject({ changed: false });
    expect(await hermesJson(["tools", "enable", "read_file"], { home })).toMatchObject({
      name: "read_file",
      enabled: true,
      changed: true,
    });
    expect((await hermes(["call", "read_file", "path=config.yaml"], { home })).code).toBe(0);
    for (const comment of ["# first line", "# because", "# last line"])
      expect(readFileSync(file, "utf8")).toContain(comment);
  });
});

describe("config set", () => {
  it("changes one value, keeps the comments, and the next command obeys", async () => {
    const home = homeWith("# who may do what\npermissions:\n  profile: default # for now\n");
    const done = await hermes(["config", "set", "permissions.profile", "readonly_research"], { home });
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe(
      "# who may do what\npermissions:\n  profile: readonly_research # for now\n",
    );
    const denied = await hermes(["call", "write_file", "path=a.txt", "content=a", "--json"], { home });
    expect(denied.code).toBe(5);
    expect(errorLine(denied)).toMatchObject({ code: "denied" });
  });

  it("refuses a wrong value and leaves the file as it was", async () => {
    const home = homeWith("log:\n  level: warn\n");
    const done = await hermes(["config", "set", "log.level", "loud", "--json"], { home });
    expect(done.code).toBe(2);
    expect(errorLine(done).message).toContain("debug, info, warn, error");
    expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe("log:\n  level: warn\n");
  });

  it("puts secrets into .env, for nobody else to read, and never shows them", async () => {
    const home = tempFolder();
    await hermes(["config", "set", "server.token", "a-long-secret-token-1234"], { home });
    expect(readFileSync(join(home, ".env"), "utf8")).toContain("a-long-secret-token-1234");
    expect(statSync(join(home, ".env")).mode & 0o077).toBe(0);
    const shown = await hermes(["config", "get"], { home });
    expect(shown.stdout + shown.stderr).not.toContain("a-long-secret-token-1234");
  });
});

describe("a broken configuration", () => {
  it("is reported with file and line, and the last good version stays in force", async () => {
    const home = homeWith("tools:\n  disabled: [sleep]\n");
    expect((await hermes(["call", "sleep", "seconds=0"], { home })).code).toBe(4);
    writeFileSync(join(home, "config.yaml"), "tools:\n  disabled: []\nlog: [unfinished\n");
    const checked = await hermes(["config", "check"], { home });
    expect(checked.code).toBe(2);
    expect(checked.stdout).toMatch(/config\.yaml:\d+/);
    const called = await hermes(["call", "sleep", "seconds=0"], { home });
    expect(called.code).toBe(4);
    expect(called.stderr).toMatch(/config\.yaml:\d+/);
  });

  it("config check names unknown keys with their line and what was meant; a sound file is fine", async () => {
    const home = homeWith("log:\n  level: warn\ntolos:\n  disabled: []\n");
    const [people, program] = await Promise.all([
      hermes(["config", "check"], { home }),
      hermes(["config", "check", "--json"], { home }),
    ]);
    expect(people.stdout).toMatch(/config\.yaml:3/);
    expect(people.stdout).toContain("tools");
    expect(JSON.parse(program.stdout)).toMatchObject({ problems: [{ line: 3 }] });
    const sound = await hermes(["config", "check"], { home: homeWith("log:\n  level: warn\n") });
    expect(sound).toMatchObject({ code: 0, stdout: expect.stringContaining("no problems") });
  });
});

describe("config trust and untrust", () => {
  it("a project's own tools and settings count only while its folder is trusted", async () => {
    const home = tempFolder();
    const project = join(tempFolder(), "my project");
    mkdirSync(join(project, ".hermes", "tools"), { recursive: true });
    writeFileSync(join(project, ".hermes", "config.yaml"), "tools:\n  disabled: [sleep]\n");
    writeFileSync(
      join(project, ".hermes", "tools", "local.mjs"),
      `import { defineTool } from "hermes-tools";
       export default defineTool({
         name: "project_tool", description: "Of this project", parameters: { type: "object" }, handler: () => "here",
       });`,
    );
    const options = { home, cwd: project };
    const call = (...words: string[]) => hermes(["call", ...words], options);
    expect((await call("project_tool")).code).toBe(2);
    const untrusted = await call("sleep", "seconds=0");
    expect(untrusted).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`config trust '${project}'`),
    });
    expect(await hermes(["config", "trust"], options)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(project),
    });
    expect(await call("project_tool")).toMatchObject({ code: 0, stdout: "here\n" });
    expect((await call("sleep", "seconds=0")).code).toBe(4);
    expect((await hermes(["tools", "check", "project_tool", "--runs", "2"], options)).code).toBe(0);
    expect(await hermesJson(["config", "untrust", project], options)).toMatchObject({ folder: project });
    expect((await call("project_tool")).code).toBe(2);
  });
});
