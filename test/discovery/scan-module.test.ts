import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scanModule } from "../../src/registry/scan-module.js";

const kindOf = (text: string, file = "example.ts") => scanModule({ file, text }).kind;

const TOOLS: Record<string, string> = {
  "a register call": `import { registry } from "hermes-tools"; registry.register({ name: "a" });`,
  "a register call under another local name": `import { registry as r } from "hermes-tools"; r.register({});`,
  "a register call through the namespace": `import * as hermes from "hermes-tools"; hermes.registry.register({});`,
  "a registry passed on by a helper": `import { registry } from "./setup.js"; registry.register({});`,
  "a registry from a dynamic import": `const { registry } = await import("hermes-tools"); registry.register({});`,
  "registry.add": `import { registry } from "hermes-tools"; registry.add(something);`,
  "an awaited register call": `import { registry } from "hermes-tools"; await registry.register({});`,
  "a kept result of register": `import { registry } from "hermes-tools"; const done = registry.register({});`,
  "a for-of loop": `for (const name of ["a", "b"]) { registry.register({ name }); }`,
  "a for-of loop without a block": `for (const name of names) registry.register({ name });`,
  "nested loops": `for (;;) { while (more()) { do { registry.register({}); } while (0); break; } break; }`,
  "a top-level condition": `if (process.platform === "linux") { registry.register({}); }`,
  "an else branch": `if (off) {} else registry.register({});`,
  "a try block": `try { registry.register({}); } catch {}`,
  "a switch": `switch (kind) { case 1: registry.register({}); }`,
  "a default export of defineTool": `import { defineTool } from "hermes-tools"; export default defineTool({});`,
  "defineTool under another name": `import { defineTool as make } from "hermes-tools"; export default make({});`,
  "a named export of defineTool": `export const greet = defineTool({});`,
  defineTools: `export default defineTools([]);`,
  "a list of tools": `export const tools = [defineTool({}), defineTool({})];`,
  "a tool exported by name": `const greet = defineTool({}); export { greet as default };`,
  "a tool exported later": `const greet = defineTool({}) satisfies object; export default greet;`,
  "an exported BaseTool class": `import { BaseTool } from "hermes-tools"; export class A extends BaseTool {}`,
  "a default BaseTool class": `export default class extends BaseTool<{}> { run() {} }`,
  "a class expression": `export const A = class extends BaseTool {};`,
  "an exported instance": `class A extends BaseTool {} export default new A();`,
  "a class below an abstract one": `abstract class A extends BaseTool {} export class B extends A {}`,
  "a decorated method": `import { tool } from "hermes-tools"; class W { @tool({}) async query() {} }`,
  "a decorated static method": `export class W { @tool({}) static query() {} }`,
  "a decorator through the namespace": `import * as h from "hermes-tools"; export class W { @h.tool({}) q() {} }`,
};

const HELPERS: Record<string, string> = {
  "an empty file": "",
  "a register call inside a function": `import { registry } from "hermes-tools"; export function setup() { registry.register({}); }`,
  "a register call inside an arrow function": `export const setup = () => registry.register({});`,
  "a register call inside a callback": `names.forEach((name) => { registry.register({ name }); });`,
  "a register call inside a method": `export class A { start() { registry.register({}); } }`,
  "a register call in a string": `export const text = "registry.register({})";`,
  "a register call in a template": "export const text = `\nregistry.register({});\n`;",
  "a register call in a comment": `// registry.register({});\n/* export default defineTool({}) */\nexport const a = 1;`,
  "a register call of something else": `app.registry.register({});`,
  "a registry of another package": `import { registry } from "prom-client"; registry.register({});`,
  "another method of the registry": `registry.deregister("a");`,
  "a tool that a function returns": `export function make() { return defineTool({}); }`,
  "a re-export": `export { default } from "./other.js"; export * from "hermes-tools";`,
  "a type export": `import type { BaseTool } from "hermes-tools"; class A extends BaseTool {} export type { A };`,
  "a BaseTool class that is not exported": `import { BaseTool } from "hermes-tools"; class A extends BaseTool {}`,
  "an abstract BaseTool class": `export abstract class Shared extends BaseTool {}`,
  "a class that extends something else": `import { BaseTool } from "other-tools"; export class A extends BaseTool {}`,
  "a class that extends itself by name": `export class A extends B {} class B extends A { x = BaseTool; }`,
  "a decorator of another package": `import { tool } from "ai"; export class A { @tool({}) run() {} }`,
  "a decorator that is not called": `export class A { @tool run() {} }`,
  "a value that refers to itself": `export const a = b; const b = a; void registry;`,
};

describe("scanning a module", () => {
  it.each(Object.entries(TOOLS))("finds %s", (_what, text) => {
    expect(kindOf(text)).toBe("tool");
  });

  it.each(Object.entries(HELPERS))("does not mistake %s for a registration", (_what, text) => {
    expect(kindOf(text)).toBe("helper");
  });

  it.each([
    ["a tool that is not exported", "const greet = defineTool({});", /not exported/],
    ["a plain object", 'export default { name: "a", handler() {} };', /plain object/],
    ["a plain object with a slip", 'export default { name: "a", handlr() {} };', /plain object/],
    [
      "a mistyped import",
      'import { defineTol } from "hermes-tools"; export default defineTol({});',
      /"defineTool"/,
    ],
    [
      "an import of another package",
      'import { defineTool } from "@hermes/sdk"; export default defineTool({});',
      /hermes-tools/,
    ],
  ])("names %s as a mistake", (_what, text, reason) => {
    expect(scanModule({ file: "/t/a.ts", text })).toMatchObject({
      kind: "broken",
      line: 1,
      message: expect.stringMatching(reason),
    });
  });

  it("reads JavaScript too", () => {
    expect(kindOf(`export default defineTool({});`, "a.mjs")).toBe("tool");
    expect(kindOf(`export const make = () => defineTool({});`, "a.js")).toBe("helper");
  });

  it("names the line of a syntax error", () => {
    const verdict = scanModule({ file: "a.ts", text: "const a = 1;\n\nregistry.register({{);\n" });
    expect(verdict).toMatchObject({ kind: "broken", line: 3 });
    expect(verdict).toHaveProperty("message", expect.stringMatching(/^SyntaxError: ./));
  });

  it("gives one verdict for a registration wherever comments and line breaks stand", () => {
    const filler = fc.constantFrom(" ", "\n", "\t", "/* registry */", "// defineTool\n");
    const words = ["registry", ".", "register", "(", "{", "}", ")", ";"];
    fc.assert(
      fc.property(fc.array(filler, { minLength: words.length, maxLength: words.length }), (gaps) => {
        const text = words.map((word, index) => word + gaps[index]).join("");
        expect(kindOf(text)).toBe("tool");
        expect(kindOf(`function setup() {\n${text}\n}`)).toBe("helper");
      }),
      { numRuns: 50 },
    );
  });
});
