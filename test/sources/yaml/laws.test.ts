import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { argumentsOf, commandLine, UnusableArgument } from "../../../src/sources/yaml/command-tool.js";
import { fillEndpoint, readEndpoint, UnusableValue } from "../../../src/toolfile/endpoint.js";
import { readToolFile } from "../../../src/toolfile/read-file.js";
import type { CommandSpec } from "../../../src/toolfile/tool-spec.js";

const nasty = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom(..."/\\.%?#@:;&=[]{}2eE5cCfF \t\r\n\0u\u202e\uff0e\u3002\ud800".split("")),
    maxLength: 12,
  }),
  fc.constantFrom(
    "..",
    ".",
    "%2e%2e",
    "%2E.",
    "..%2f",
    "//evil.example",
    "@evil.example",
    "\\\\evil",
    "https://evil.example/",
    "..;/",
    "%00",
  ),
);

describe("an address template", () => {
  const TEMPLATES = ["/users/{a}/keys/{b}", "/x{a}y/{b}", "/{a}{b}", "/.{a}/{b}", "/{a}.{b}", "/q/{a}?z={b}"];

  test("never lets a value change the host or leave its segment", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...TEMPLATES),
        nasty,
        nasty,
        fc.array(fc.tuple(nasty, nasty), { maxLength: 2 }),
        (template, a, b, query) => {
          const read = readEndpoint(`https://api.example.com:8443${template}`);
          if (!read.ok) throw new Error(read.message);
          let address: string;
          try {
            address = fillEndpoint(read.endpoint, { a, b }, query);
          } catch (error) {
            expect(error).toBeInstanceOf(UnusableValue);
            return;
          }
          const url = new URL(address);
          expect(url.origin).toBe("https://api.example.com:8443");
          expect(url.username + url.password + url.hash).toBe("");
          const [path = ""] = template.split("?");
          expect(url.pathname.split("/").length).toBe(path.split("/").length);
          const wanted = path.replace("{a}", encodeURIComponent(a)).replace("{b}", encodeURIComponent(b));
          expect(url.pathname).toBe(wanted);
          const names = [...url.searchParams.keys()];
          expect(names).toEqual([
            ...(template.includes("?") ? ["z"] : []),
            ...query.map(([name]) => name.toWellFormed()),
          ]);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("an argument template", () => {
  async function command(list: string): Promise<CommandSpec> {
    const reading = await readToolFile(
      `tools: [{ name: c, description: d, type: command, command: ${list}, parameters: [{ name: a, type: string, required: true }, { name: b, type: string, required: true }] }]`,
    );
    const spec = reading.ok ? reading.tools[0] : undefined;
    if (spec?.type !== "command") throw new Error(JSON.stringify(reading));
    return spec;
  }

  test("never splits, joins or drops, and never makes an option of a value", async () => {
    const spec = await command('[prog, "--x={{a}}", "{{b}}", "p{{a}}{{b}}", "--", "{{a}}", "{{b}}{{a}}"]');
    fc.assert(
      fc.property(nasty, nasty, (a, b) => {
        let vector: readonly string[];
        try {
          vector = argumentsOf(spec, { a, b });
        } catch (error) {
          expect(error).toBeInstanceOf(UnusableArgument);
          expect(a.includes("\0") || b.includes("\0") || b.startsWith("-")).toBe(true);
          return;
        }
        expect(vector).toEqual(["prog", `--x=${a}`, b, `p${a}${b}`, "--", a, b + a]);
      }),
      { numRuns: 500 },
    );
  });

  test("is shown as a line that bash reads as exactly these arguments", () => {
    const word = fc.oneof(fc.string({ unit: "grapheme-ascii", maxLength: 8 }), nasty).filter(isPrintable);
    const samples = fc.sample(fc.array(word, { minLength: 1, maxLength: 5 }), 300);
    const script = samples.map((words) => `printf '%s\\0' ${commandLine(words)}; printf '\\1\\0'`).join("\n");
    const { stdout } = spawnSync("bash", [], { input: script, encoding: "utf8", env: { LC_ALL: "C.UTF-8" } });
    const read = stdout.split("\u0001\0").slice(0, -1);
    expect(read.map((line) => line.split("\0").slice(0, -1))).toEqual(samples);
  });
});

/** What a program can be given at all, and a test can read back. */
function isPrintable(text: string): boolean {
  return text.isWellFormed() && !/[\0\u0001]/.test(text);
}

describe("a tool file", () => {
  test("whatever it holds, reading it gives tools or places, and never throws", async () => {
    const keys = fc.constantFrom(
      "name",
      "type",
      "endpoint",
      "parameters",
      "auth",
      "command",
      "steps",
      "tools",
      "body",
      "response",
      "retries",
      "x",
      "defaults",
      "$defs",
    );
    const { node } = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(
          "http_wrapper",
          "command",
          "composite",
          "https://a.example/{x}",
          "{{x}}",
          "{{",
          "$.a[",
          1,
          true,
          null,
          "",
        ),
        fc.array(tie("node"), { maxLength: 3 }),
        fc.dictionary(keys, tie("node"), { maxKeys: 6 }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(fc.array(node, { maxLength: 3 }), node, async (tools, defaults) => {
        const reading = await readToolFile(JSON.stringify({ tools, defaults }));
        expect(reading.ok || reading.problems.length > 0).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
