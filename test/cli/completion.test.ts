import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { placeOf, wordsOf } from "../../src/cli/completion/typed-line.js";
import { buildProgram } from "../../src/cli/program.js";
import { PinRows } from "../../src/sources/mcp/pin-rows.js";
import { openStore } from "../../src/store/store.js";
import { needs } from "../support/needs.js";
import { hermes, linesOf, main, plainEnvironment, tempFolder } from "./hermes.js";

async function offered(line: string, home?: string): Promise<readonly string[]> {
  const { stdout } = await hermes(["complete", "--", `hermes ${line}`], home === undefined ? {} : { home });
  return linesOf(stdout).map((one) => one.split("\t", 1)[0] ?? "");
}

/** A folder for PATH where `hermes` is the built program, and the script for a shell. */
async function installed(shell: string) {
  const home = tempFolder();
  const bin = join(home, "bin");
  mkdirSync(bin);
  const program = join(bin, "hermes");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(program, 0o755);
  const script = join(home, `hermes.${shell}`);
  writeFileSync(script, (await hermes(["completion", shell])).stdout);
  const env = plainEnvironment(home);
  const run = (args: readonly string[]) =>
    spawnSync(shell, [...args], {
      encoding: "utf8",
      cwd: home,
      env: { ...env, PATH: `${bin}:${env.PATH}` },
      timeout: 20_000,
    });
  return { script, run, home };
}

describe("the line of a person", () => {
  it("is read as a shell would, and nothing in it is run", () => {
    expect(wordsOf("hermes call ")).toEqual(["hermes", "call", ""]);
    expect(wordsOf(`hermes 'a b' "c $(touch x)" d\\ e f`)).toEqual([
      "hermes",
      "a b",
      "c $(touch x)",
      "d e",
      "f",
    ]);
    expect(wordsOf("hermes '' x")).toEqual(["hermes", "", "x"]);
  });

  it("leads to a command, past the flags and their values", () => {
    const place = placeOf(buildProgram({}), ["--profile", "call", "tools", "--all", "info", "sl"]);
    expect(place.command.name()).toBe("info");
    expect(place.word).toBe("sl");
    expect(placeOf(buildProgram({}), ["tools", "schema", "--format=an"])).toMatchObject({
      before: "--format=",
      word: "an",
    });
  });
});

describe("what is offered", () => {
  it("commands, tools and toolsets where they belong", async () => {
    expect(await offered("do")).toEqual(["doctor"]);
    expect(await offered("tools ch")).toEqual(["check"]);
    expect(await offered("call re")).toContain("read_file");
    expect(await offered("call re")).not.toContain("sleep");
    expect(await offered("--json tools info sl")).toEqual(["sleep"]);
    expect(await offered("toolsets fi")).toContain("file");
  });

  it("parameters of the tool that was named, and what a choice can be", async () => {
    expect(await offered("call read_file pa")).toEqual(["path="]);
    expect(await offered("call read_file path=x pa")).toEqual([]);
    expect(await offered("call terminal background=")).toEqual(["background=true", "background=false"]);
    expect(await offered("permissions explain file_compress action=c")).toEqual(["action=compress"]);
  });

  it("servers, profiles, keys and their values, options and their choices", async () => {
    const home = tempFolder();
    writeFileSync(join(home, "config.yaml"), "mcp_servers:\n  weather:\n    command: never-started\n");
    writeFileSync(join(home, "hermes_permissions.yaml"), "profiles:\n  night:\n    description: at night\n");
    expect(await offered("mcp remove ", home)).toEqual(["weather"]);
    expect(await offered("permissions use n", home)).toContain("night");
    expect(await offered("--profile n", home)).toContain("night");
    expect(await offered("config set approvals.m")).toContain("approvals.mode");
    expect(await offered("config set approvals.mode ")).toEqual(["manual", "smart", "off"]);
    expect(await offered("tools schema --format=an")).toEqual(["--format=anthropic"]);
    expect(await offered("doctor --f")).toEqual(["--fix"]);
    expect(await offered("mcp install c")).toEqual(["claude", "cursor"]);
  });

  it("tools of the person's own folder, and those that a server had", async () => {
    const home = tempFolder();
    mkdirSync(join(home, "tools"));
    writeFileSync(
      join(home, "tools", "mine.yaml"),
      "tools:\n  - name: greet_person\n    description: Greets.\n    type: command\n    command: [echo, '{{ name }}']\n" +
        "    parameters:\n      - { name: name, type: string }\n",
    );
    writeFileSync(join(home, "config.yaml"), "mcp_servers:\n  weather:\n    command: never-started\n");
    const store = await openStore({ path: join(home, "state.db") });
    const definition = { name: "forecast", inputSchema: { type: "object", properties: { city: {} } } };
    new PinRows(store.db).addFirst({ server: "weather", identity: "x" }, [
      { definition, fingerprint: "f", present: true },
    ]);
    await store.close();
    expect(await offered("call mcp_", home)).toEqual(["mcp_weather_forecast"]);
    expect(await offered("call mcp_weather_forecast ", home)).toEqual(["city="]);
    expect(await offered("call greet", home)).toEqual(["greet_person"]);
    expect(await offered("call greet_person ", home)).toContain("name=");
  });
});

describe("in a shell", () => {
  it.each(["zsh", "fish"])("prints a script for %s that the shell can read", async (shell) => {
    const { script, run } = await installed(shell);
    const checked = run(["-n", script]);
    // A shell that is not installed cannot object.
    if (checked.error === undefined) expect(checked).toMatchObject({ status: 0, stderr: "" });
  });

  it("bash without any start-up file completes, also when the script is sourced twice", async () => {
    const { script, run, home } = await installed("bash");
    const ask = (line: string) =>
      `COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; COMP_WORDS=(hermes); __hermes_complete; echo "\${COMPREPLY[*]}"`;
    const done = run([
      "--noprofile",
      "--norc",
      "-c",
      [`. ${script}`, `. ${script}`, ask("hermes call read_f"), ask("hermes call read_file pa")]
        .concat(ask("hermes call terminal background=t"), ask("hermes call $(touch ran)"))
        .join("\n"),
    ]);
    expect(done).toMatchObject({ status: 0, stderr: "" });
    expect(linesOf(done.stdout)).toEqual(["read_file", "path=", "true"]);
    expect(spawnSync("ls", [home], { encoding: "utf8" }).stdout).not.toContain("ran");
  });

  /** A line editor exists only where there is a terminal: zsh brings its own for one. */
  const ZSH_AT_A_TERMINAL = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "source $1; source $1; print LOADED=\\$?"
zpty -r -m shell seen '*LOADED=[0-9]*'
zpty -w -n shell "$2"$'\\t'
zpty -r -m shell seen "*$3*"
print -r -- $seen
`;

  it.for([
    ["hermes call read_f", "read_file"],
    ["hermes tools ch", "tools check"],
    ["hermes call terminal background=t", "background=true"],
    ["hermes completion ", "powershell"],
  ] as const)(
    "zsh completes %s at a terminal, also when the script is sourced twice",
    async ([line, expected], context) => {
      needs(context, "zsh");
      const { script, run, home } = await installed("zsh");
      const driver = join(home, "driver.zsh");
      writeFileSync(driver, ZSH_AT_A_TERMINAL);
      const done = run(["-f", driver, script, line, expected]);
      expect(done).toMatchObject({ status: 0, stderr: "" });
      expect(done.stdout).toContain(expected);
      expect(done.stdout).not.toMatch(/error|not found/);
    },
  );

  it("fish offers values with what they mean", async (context) => {
    needs(context, "fish");
    const { script, run } = await installed("fish");
    const done = run([
      "--no-config",
      "-c",
      `source ${script}; source ${script}; complete -C 'hermes call read_f'`,
    ]);
    expect(done.stdout).toMatch(/^read_file\t\S/);
    expect(done.stderr).toBe("");
  });
});
