import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

interface EmbeddedModule {
  readonly module: string;
  readonly text: string;
}
interface Row {
  readonly module: string;
  readonly files: Readonly<Record<string, string>>;
  readonly comments?: "dropped";
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const { embeddedModules } = (await import(join(root, "scripts/embed.mjs"))) as {
  embeddedModules(root: string, rows?: readonly Row[]): Promise<readonly EmbeddedModule[]>;
};

const modules = await embeddedModules(root);

test.each(modules)("$module holds what its files hold today", async ({ module, text }) => {
  expect(await readFile(join(root, module), "utf8")).toBe(text);
});

test("the launcher is among them", () => {
  expect(modules.map(({ module }) => module)).toContain("src/env/local/launcher/launcher-program.gen.ts");
});

test("a file is embedded byte for byte, without the lines that are for its readers, or as one line", async () => {
  const copy = await mkdtemp(join(tmpdir(), "hermes-embed-"));
  try {
    await mkdir(join(copy, "src"));
    await writeFile(join(copy, "src/a.py"), '# kept\n\ntext = """\n  # kept "too"\n"""\n');
    await writeFile(join(copy, "src/b.sh"), "# why\n\n  # how\necho # shown\n");
    await writeFile(join(copy, "src/d.line.sh"), "# why\nif true; then\necho one;\nfi;\necho two\n");
    const made = await embeddedModules(copy, [
      { module: "src/a.gen.ts", files: { A: "a.py" } },
      { module: "src/b.gen.ts", files: { B: "b.sh" }, comments: "dropped" },
      { module: "src/d.gen.ts", files: { D: "d.line.sh" }, comments: "dropped" },
      { module: "src/c.gen.ts", files: { C: "not-there.sh" } },
    ]);
    expect(made.map(({ text }) => text.split("\n")[1])).toEqual([
      String.raw`export const A = "# kept\n\ntext = \"\"\"\n  # kept \"too\"\n\"\"\"\n";`,
      String.raw`export const B = "echo # shown\n";`,
      'export const D = "if true; then echo one; fi; echo two";',
    ]);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
});
