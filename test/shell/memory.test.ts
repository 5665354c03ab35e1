import { describe, expect, test } from "vitest";
import type { Effect } from "../../src/tool/effects.js";
import { rulesBench } from "../policy/support.js";

function runs(resource: string, more: Partial<Effect> = {}): readonly Effect[] {
  return [{ action: "terminal:execute", resource, mode: "execute", ...more }];
}

describe("variables that earlier commands have exported", () => {
  test.each([
    ["$X -rf /", { X: "rm" }, "deny"],
    ['"$TOOL" -rf "$WHERE"', { TOOL: "rm", WHERE: "/" }, "deny"],
    ["cat $FILE", { FILE: "notes.txt" }, "allow"],
    ["$TOOL status", { TOOL: "git" }, "allow"],
    ["curl -s $FROM | $INTO", { FROM: "http://example.com/x", INTO: "sh" }, "ask"],
    ["$X foo", {}, "ask"],
  ])("%s with %o: %s", async (command, variables, verdict) => {
    const bench = await rulesBench("");
    expect(bench.ask({ effects: runs(command, { variables }) }).verdict).toBe(verdict);
  });

  test("a denied command stays denied when it comes out of a variable", async () => {
    const bench = await rulesBench("", { denyCommands: ["git push*"] });
    const effects = runs("$G push origin main", { variables: { G: "git" } });
    expect(bench.ask({ effects }).verdict).toBe("deny");
  });

  test("a value with quotes and new lines says nothing but itself", async () => {
    const bench = await rulesBench("", { denyCommands: ["git push*"] });
    const effects = runs("echo $NOTE", { variables: { NOTE: "it's\ngit push --force; rm -rf /" } });
    expect(bench.ask({ effects }).verdict).toBe("allow");
  });
});

describe("rules that name a folder of the person", () => {
  test.each([
    ["rm -rf /home/nobody/work/*", "rm -rf ~/work/a", "deny"],
    ["rm -rf $HOME/work/*", "rm -rf /home/nobody/work/a", "deny"],
    ["rm -rf ~/work/*", 'rm -rf "$HOME/work/a"', "deny"],
    ["cat /home/nobody/*", "cat notes", "allow"],
  ])("%s against %s: %s", async (rule, command, verdict) => {
    const bench = await rulesBench("", { denyCommands: [rule] });
    expect(bench.ask({ effects: runs(command) }).verdict).toBe(verdict);
  });
});

describe("text typed into a running program", () => {
  test.each([
    ["bash", "rm -rf /", "deny"],
    ["bash", "git push --force", "ask"],
    ["bash", "ls -l", "allow"],
    ["env FOO=1 bash -i", "rm -rf /", "deny"],
    ["ssh host.example", "rm -rf /", "deny"],
    ["python3", "import shutil; shutil.rmtree('/')", "deny"],
    ["python3 -i", "print('hi')", "allow"],
    ["node", "require('fs').rmSync('/', {recursive: true})", "deny"],
    ["./install.sh", "don't know", "allow"],
    ["./install.sh", "y", "allow"],
    ["./install.sh", "rm -rf /", "deny"],
    ["./menu.sh; bash", "don't", "deny"],
    ["sudo apt-get install x", "p(ass'word", "allow"],
    ["sudo -i", "don't", "deny"],
    ["sudo bash", "rm -rf /", "deny"],
  ])("into %s: %s is %s", async (typedInto, text, verdict) => {
    const bench = await rulesBench("");
    expect(bench.ask({ effects: runs(text, { typedInto }) }).verdict).toBe(verdict);
  });
});

describe("text typed into a program after other text", () => {
  test.each([
    ["bash", "x=rm\ny='-rf data'\n", "$x $y", "ask"],
    ["bash", "f() { rm -rf data; }\n", "f", "ask"],
    ["bash", "x=src\n", "ls $x", "allow"],
    ["python3", "from shutil import rmtree as r\n", 'r("data")', "ask"],
    ["python3", "import json\n", 'print(json.dumps({"a": 1}))', "allow"],
    ["node", 'import { rmSync as r } from "node:fs"\n', 'r("data", { recursive: true })', "ask"],
    ["node", "const a = 1\n", "console.log(a)", "allow"],
    ["sqlite3 a.db", "create table t (a);\n", ".shell rm -rf data", "ask"],
    ["sqlite3 a.db", "select 1;\n", "select 2;", "allow"],
    ["psql shop", "\\dt\n", "\\! rm -rf data", "ask"],
    ["psql shop", "\\dt\n", "select 1;", "allow"],
    ["mysql shop", "show tables;\n", "truncate users;", "ask"],
    ["mysql shop", "show tables;\n", "select 1;", "allow"],
    // What was dangerous has been answered; what follows is not held up by it.
    ["bash", "rm -rf data\n", "ls", "allow"],
    ["bash", "rm -rf data\nx=rm\n", "$x -rf src", "ask"],
  ])("into %s after %j: %s is %s", async (typedInto, typedBefore, text, verdict) => {
    const bench = await rulesBench("");
    expect(bench.ask({ effects: runs(text, { typedInto, typedBefore }) }).verdict).toBe(verdict);
  });
});
