import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { differences, parseExports } from "../../src/env/shell-report.js";

const SHELLS: readonly (readonly string[])[] = [
  ["bash", "--norc"],
  ["bash", "--norc", "--posix"],
  ["dash"],
  ["busybox", "sh"],
];

function installed(program: string): boolean {
  return spawnSync(program, program === "busybox" ? ["true"] : ["-c", ":"]).status === 0;
}

/** Any value a variable can hold: everything but NUL, as text that is valid UTF-8. */
const anyValue = fc
  .oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.string({
      unit: fc.constantFrom(..."'\"\\$`!\n\t\r ;#(){}=~*?[]\u0001\u001b\u007f\u0081é漢😀"),
      maxLength: 20,
    }),
  )
  .map((value) => value.replaceAll("\0", "").toWellFormed());

for (const [program = "", ...options] of SHELLS) {
  const name = [program, ...options].join(" ");
  describe.skipIf(!installed(program))(`what ${name} prints for export -p`, () => {
    const report = (env: NodeJS.ProcessEnv, script = "export -p"): Buffer =>
      spawnSync(program, [...options, "-c", script], {
        env: { PATH: process.env.PATH, ...env },
        stdio: ["ignore", "pipe", "inherit"],
      }).stdout;

    for (const locale of ["C", "C.UTF-8"]) {
      test(`gives every value back unchanged (${locale})`, () => {
        fc.assert(
          fc.property(
            fc.dictionary(fc.stringMatching(/^V[A-Za-z0-9_]{1,6}$/), anyValue, { maxKeys: 60, size: "max" }),
            (values) => {
              const found = parseExports(report({ ...values, LC_ALL: locale }));
              expect(
                Object.fromEntries(Object.entries(found).filter(([key]) => key.startsWith("V"))),
              ).toEqual({
                ...values,
              });
            },
          ),
          { numRuns: 12 },
        );
      });
    }

    test("leaves out what has no value", () => {
      expect(parseExports(report({}, "export GONE; export HERE=1; export -p"))).not.toHaveProperty("GONE");
      expect(parseExports(report({}, "export GONE; export HERE=1; export -p"))).toHaveProperty("HERE", "1");
    });
  });
}

describe("other forms of bash", () => {
  test("attributes, arrays and invalid bytes", () => {
    const script = "declare -rx R=1; declare -ix I=5; declare -ax A=(x 'y z'); declare -x LAST=2; export -p";
    const { stdout } = spawnSync("bash", ["--norc", "-c", script]);
    const found = parseExports(stdout);
    expect(found).toMatchObject({ R: "1", I: "5", LAST: "2" });
    expect(found).not.toHaveProperty("A");
  });

  test("a byte that is no character becomes the replacement character and harms nothing else", () => {
    const { stdout } = spawnSync("bash", ["--norc", "-c", "export B=$'a\\xffb' C=c; export -p"]);
    expect(parseExports(stdout)).toMatchObject({ B: "a\ufffdb", C: "c" });
  });

  test("a report that was cut short gives what is complete", () => {
    expect(parseExports('declare -x A="1"\ndeclare -x B="unfini')).toEqual({ A: "1" });
  });

  test("values may look like declarations", () => {
    expect(parseExports('declare -x A="x\ndeclare -x FAKE=\\"1\\""\ndeclare -x B="2"\n')).toEqual({
      A: 'x\ndeclare -x FAKE="1"',
      B: "2",
    });
  });
});

describe("differences", () => {
  test("are what applying them to the base gives back", () => {
    const variables = fc.dictionary(fc.stringMatching(/^[A-D]$/), fc.constantFrom("", "1", "2"));
    fc.assert(
      fc.property(variables, variables, (base, exported) => {
        const applied = { ...base, ...differences(base, exported) };
        const left = Object.entries(applied).filter(([, value]) => value !== undefined);
        expect(Object.fromEntries(left)).toEqual({ ...exported });
      }),
    );
  });

  test("do not hold what belongs to one shell", () => {
    expect(
      differences({ PWD: "/a", SHLVL: "1" }, { PWD: "/b", OLDPWD: "/a", _: "x", HERMES_EXEC_ID: "m" }),
    ).toEqual({});
  });
});
