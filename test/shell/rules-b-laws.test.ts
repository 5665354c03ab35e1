import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { riskOfSql } from "../../src/shell/code/sql.js";
import { judgeCommand } from "../../src/shell/judge.js";
import { codeCommands } from "../../src/shell/rules/interpreters.js";
import { simple } from "./build.js";

const WORDS = fc.constantFrom(
  "rm -rf /",
  "DROP TABLE users",
  "DELETE FROM t",
  "os.system",
  "eval(",
  "git push -f",
  "x",
  "--",
  "/*",
  "#",
);
const PHRASE = fc.array(WORDS, { minLength: 1, maxLength: 6 }).map((words) => words.join(" "));
const DESTRUCTIVE = fc.constantFrom(
  "drop table users",
  "truncate orders",
  "delete from users",
  "update users set a = 1",
  "grant all on t to bob",
);

describe("SQL", () => {
  it("what stands in a string or a comment changes nothing", () => {
    fc.assert(
      fc.property(PHRASE, (phrase) => {
        expect(riskOfSql(`select '${phrase}' from t`)).toBeUndefined();
        expect(riskOfSql(`select "${phrase}" from t`)).toBeUndefined();
        expect(riskOfSql(`select 1 -- ${phrase}`)).toBeUndefined();
        expect(riskOfSql(`select 1 /* ${phrase.replaceAll("/*", "")} */`)).toBeUndefined();
        expect(riskOfSql(`select $q$${phrase}$q$`)).toBeUndefined();
      }),
    );
  });

  it("neither letters' case nor blanks nor comments hide a destructive statement", () => {
    const blank = fc.constantFrom(" ", "\n", "\t", "  ", "/**/", " -- x\n");
    const cased = (text: string) =>
      fc
        .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
        .map((upper) =>
          [...text].map((char, index) => (upper[index] === true ? char.toUpperCase() : char)).join(""),
        );
    const disguised = DESTRUCTIVE.chain((text) =>
      fc.tuple(cased(text), blank).map(([letters, gap]) => letters.replaceAll(" ", gap)),
    );
    fc.assert(
      fc.property(disguised, fc.constantFrom("", "select 1; ", "begin; "), (text, before) => {
        expect(riskOfSql(before + text)).toBeDefined();
      }),
    );
  });

  it("a condition that cannot be false is no condition", () => {
    for (const condition of ["true", "1", "1=1", "'a'='a'", "id = id", "(1=1)", "id = 3 or 1=1", "2 > 1"])
      expect(riskOfSql(`delete from users where ${condition}`), condition).toBeDefined();
    for (const condition of ["id = 1", "a = 'x' and b = 2", "created < now()", "id in (select id from old)"])
      expect(riskOfSql(`delete from users where ${condition}`), condition).toBeUndefined();
  });

  it("SQL that SQL runs is followed", () => {
    expect(riskOfSql("do $$ begin execute 'drop table users'; end $$")).toBeDefined();
    expect(riskOfSql("execute immediate 'truncate table x'")).toBeDefined();
    expect(riskOfSql("do $$ begin raise notice 'drop table users'; end $$")).toBeUndefined();
  });
});

describe("inline code", () => {
  const quoted = (text: string): string => JSON.stringify(text);

  it("text that is only printed is data", () => {
    fc.assert(
      fc.property(PHRASE, (phrase) => {
        for (const line of [
          `python -c 'print(${quoted(phrase)})'`,
          `node -e 'console.log(${quoted(phrase)})'`,
          `awk 'BEGIN{print ${quoted(phrase)}}'`,
          `python -c 'x = [${quoted(phrase)}]'`,
        ])
          expect(judgeCommand(line).verdict, line).toBe("safe");
      }),
    );
  });

  it("a command started from code is judged like one that is typed", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(
          "ls -la",
          "rm -rf build",
          "rm -rf /",
          "git status",
          "git push --force",
          "npm test",
          "shutdown now",
          "kubectl delete pod x",
          "cat README.md",
        ),
        (command) => {
          const typed = judgeCommand(command).verdict;
          const words = command.split(" ").map(quoted).join(", ");
          for (const line of [
            `python3 -c 'import os; os.system(${quoted(command)})'`,
            `python3 -c 'import subprocess as p; p.run([${words}])'`,
            `python3 -c 'import os; c = ${quoted(command.slice(0, 3))}; os.system(c + ${quoted(command.slice(3))})'`,
            `node -e 'require("child_process").execSync(${quoted(command)})'`,
            `ruby -e 'system ${quoted(command)}'`,
            `perl -e 'system(${words})'`,
            `php -r 'shell_exec(${quoted(command)});'`,
            `lua -e 'os.execute(${quoted(command)})'`,
            `awk 'BEGIN{system(${quoted(command)})}'`,
          ])
            expect(judgeCommand(line).verdict, line).toBe(typed);
        },
      ),
    );
  });

  it("a path reaches the shell command that stands for the call as exactly one word", () => {
    const path = fc.string({
      unit: fc.constantFrom("a", "b", " ", "'", '"', "$", "*", ";", "\\", "/", "~"),
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(path, (name) => {
        const literal = name.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
        const code = { text: `import shutil; shutil.rmtree('${literal}')`, known: true, glob: false };
        const command = simple("python3 -c x", { args: [{ text: "-c", known: true, glob: false }, code] });
        const [text = ""] = codeCommands(command)?.shell ?? [];
        const script = `rm() { printf '%s\\n' "$#" "$3"; }; ${text}`;
        expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe(`3\n${name}\n`);
      }),
      { numRuns: 25 },
    );
  });

  it("code that cannot be read needs a yes when it could start something", () => {
    expect(judgeCommand(`python -c "print('"`).verdict).toBe("safe");
    expect(judgeCommand(`python -c "import os; os.system('ls"`).verdict).toBe("danger");
  });
});
