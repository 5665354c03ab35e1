import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { hermes, hermesJson, tempFolder } from "./hermes.js";

function homeWith(files: Readonly<Record<string, string>>): string {
  const home = tempFolder();
  mkdirSync(join(home, "tools"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, "tools", name), text);
  return home;
}

const PARAMETERS = 'parameters: { type: "object", properties: {} }';

/** File, the line that is to be named, and words of the reason. */
const MISTAKES = [
  [
    "typo.ts",
    `import { defineTool } from "hermes-tools";\nexport default defineTool({\n  name: "typo", description: "x", ${PARAMETERS},\n  handlr: () => 1,\n});`,
    4,
    /"handlr" is no field of a tool; did you mean "handler"/,
  ],
  [
    "nameless.ts",
    `import { defineTool } from "hermes-tools";\nexport default defineTool({ description: "x", ${PARAMETERS}, handler: () => 1 });`,
    2,
    /has no name/,
  ],
  [
    "plain.ts",
    `\nexport default { name: "plain", description: "x", ${PARAMETERS}, handler: () => 1 };`,
    2,
    /plain object/,
  ],
  [
    "export-name.ts",
    `import { defineTol } from "hermes-tools";\nexport default defineTol({});`,
    1,
    /did you mean "defineTool"/,
  ],
  [
    "package.ts",
    `import { defineTool } from "hermes";\nexport default defineTool({});`,
    1,
    /comes from "hermes-tools"/,
  ],
  [
    "lost.ts",
    `import { defineTool } from "hermes-tools";\n\ndefineTool({ name: "lost", description: "x", ${PARAMETERS}, handler: () => 1 });`,
    3,
    /not exported/,
  ],
  [
    "throws.ts",
    `import { defineTool } from "hermes-tools";\ninterface Gone { x: 1 }\nJSON.parse("{");\nexport default defineTool({ name: "throws", description: "x", ${PARAMETERS}, handler: () => 1 });`,
    3,
    /SyntaxError/,
  ],
] as const;

it("each mistake in a tool file is named by file, line and reason, once, by every command", async () => {
  const home = homeWith(Object.fromEntries(MISTAKES.map(([file, text]) => [file, text])));
  for (const command of [["call", "typo"], ["tools"], ["doctor"]]) {
    const { stdout, stderr } = await hermes(command, { home });
    const lines = `${stdout}\n${stderr}`.split("\n");
    for (const [file, , line, reason] of MISTAKES) {
      const place = `${join(home, "tools", file)}:${line}`;
      expect(
        lines.filter((one) => one.includes(place) && reason.test(one)),
        `${command[0]}: ${place} in\n${lines.join("\n")}`,
      ).toHaveLength(1);
    }
  }
});

it("a helper without a tool is nobody's mistake", async () => {
  const home = homeWith({
    "helper.ts": 'import type { AnyTool } from "hermes-tools";\nexport const id = (tool: AnyTool) => tool;',
    "settings.ts": 'export default { url: "https://example.org", name: "x" };',
  });
  expect((await hermes(["tools"], { home })).stderr).toBe("");
});

const NOISY = `import { defineTool } from "hermes-tools";
interface Ignored { line: 2 }
console.log("loading");
export default defineTool({
  name: "noisy", description: "x", ${PARAMETERS},
  handler: () => {
    console.log("working");
    console.table([1]);
    return { fine: true };
  },
});`;

it("what a tool says with console.log is no part of the output", async () => {
  const home = homeWith({ "noisy.ts": NOISY });
  expect(await hermesJson(["call", "noisy"], { home })).toMatchObject({
    ok: true,
    structured: { fine: true },
  });
  const { stdout, stderr } = await hermes(["call", "noisy"], { home });
  expect(stdout).not.toMatch(/loading|working/);
  expect(stderr).toMatch(/loading\n[\s\S]*working\n/);
});

const THROWS = `import { defineTool } from "hermes-tools";
interface Ignored { line: 2 }
const fail = (): never => {
  throw new Error("never works");
};
export default defineTool({ name: "broken", description: "x", ${PARAMETERS}, handler: () => fail() });`;

it("-v shows authors the stack in their own lines; without it there is one line", async () => {
  const home = homeWith({ "broken.ts": THROWS });
  const file = join(home, "tools", "broken.ts");
  expect((await hermes(["call", "broken"], { home })).stderr).not.toContain(file);
  const { stderr } = await hermes(["call", "broken", "-v"], { home });
  expect(stderr).toContain(`${file}:4`);
  expect(stderr).toContain(`${file}:6`);
});

it("tools check fails a tool that always throws", async () => {
  const home = homeWith({ "broken.ts": THROWS });
  const { code, stdout } = await hermes(["tools", "check", "broken", "--runs", "2"], { home });
  expect(code).toBe(3);
  expect(stdout).toMatch(/fails whatever arguments it gets: .*never works/);
});

it("tools new writes a tool that works and passes its check, and replaces none", async () => {
  const home = tempFolder();
  const { file } = await hermesJson<{ file: string }>(["tools", "new", "hello_there"], { home });
  expect(readFileSync(file, "utf8")).toContain("defineTool");
  expect(await hermesJson(["call", "hello_there", "who=you"], { home })).toMatchObject({
    structured: { greeting: "Hello, you!" },
  });
  expect((await hermes(["tools", "check", "hello_there", "--runs", "2"], { home })).code).toBe(0);
  for (const name of ["hello_there", "read_file", "Not A Name"])
    expect((await hermes(["tools", "new", name], { home })).code).toBe(2);
});
