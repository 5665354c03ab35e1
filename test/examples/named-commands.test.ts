import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CommandSpec } from "../../src/cli/command.js";
import { COMMANDS } from "../../src/cli/commands.js";
import { buildProgram } from "../../src/cli/program.js";
import { root } from "../cli/hermes.js";

const PAGES = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)].filter(
  (name) => name.endsWith(".md") && name !== "docs/commands.md",
);

/** Examples of pages that bring a command of their own: a plugin's. */
const OF_PLUGINS = new Set(["celsius"]);

const EVERYWHERE = new Set([
  "--help",
  "--version",
  ...buildProgram({}).options.flatMap(({ flags }) => namesIn(flags)),
]);

function namesIn(flags: string): readonly string[] {
  return flags.match(/(?<![\w-])--?[a-zA-Z][\w-]*/g) ?? [];
}

/** What is typed: lines of blocks, and words in backticks, as far as they begin with the program. */
function commandsIn(page: string): readonly string[] {
  const text = readFileSync(join(root, page), "utf8");
  const blocks = [...text.matchAll(/^```[^\n]*\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, " ").split("\n"));
  const inline = [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/`([^`]+)`/g)].map(
    ([, words = ""]) => words,
  );
  return [...lines, ...inline].flatMap(
    (line) => /^\s*(?:\$ )?(?:npx )?hermes(?: ([^|&;>#]|\|(?=\w))*)?/.exec(line)?.[0] ?? [],
  );
}

/** What does not exist of a command line: a command or an option. */
function unknownIn(line: string): string | undefined {
  const words = line
    .replace(/^\s*(?:\$ )?(?:npx )?hermes/, "")
    .replace(/ {3,}.*/, "")
    .replaceAll(/'[^']*'|"[^"]*"/g, "TEXT")
    .replaceAll(/ --(?:env|profile|toolsets|timeout|home)[ =]\S+/g, "")
    .split(/[\s=]+/)
    .filter(Boolean);
  const firstOption = words.findIndex((word) => word.startsWith("-"));
  let places: readonly CommandSpec[] = [{ about: "", commands: COMMANDS }];
  for (const word of words.slice(0, firstOption < 0 ? words.length : firstOption)) {
    if (OF_PLUGINS.has(word)) return undefined;
    const next = word.split("|").flatMap((name) => {
      const found = places.flatMap(({ commands = {} }) => commands[name] ?? []);
      return found.length > 0 ? found : [undefined];
    });
    const specs = next.filter((spec) => spec !== undefined);
    if (specs.length === next.length) places = specs;
    else if (/^[a-z][\w-]*$/.test(word) && places.every(isNoun)) return word;
    else break;
  }
  if (places.some(({ takesAnyOption }) => takesAnyOption === true)) return undefined;
  const flags = places.flatMap((spec) => Object.keys({ ...spec.options, ...meantBy(spec)?.options }));
  const known = new Set([...EVERYWHERE, ...flags.flatMap(namesIn)]);
  return words.find(
    (word) => /^--[a-z]/.test(word) && !known.has(word) && !known.has(word.replace("--", "--no-")),
  );
}

/** Takes the name of one of its commands, and no word of its own. */
function isNoun(spec: CommandSpec): boolean {
  const words = Object.keys({ ...spec.args, ...meantBy(spec)?.args });
  return spec.commands !== undefined && words.length === 0;
}

/** What a noun alone means. */
function meantBy({ commands, otherwise }: CommandSpec): CommandSpec | undefined {
  return otherwise === undefined ? undefined : commands?.[otherwise];
}

const packaging = (name: string) => readFileSync(join(root, "packaging", name), "utf8");

describe("every command that a service runs is there, with its options", () => {
  it.each(["hermes.service", "hermes-worker.service"])("%s", (name) => {
    const [, line = ""] = /^ExecStart=\/usr\/bin\/env (hermes .*)$/m.exec(packaging(name)) ?? [];
    expect(line).not.toBe("");
    expect(unknownIn(line)).toBeUndefined();
  });

  it("compose.yaml", () => {
    const commands = [...packaging("compose.yaml").matchAll(/^ {4}command: (\["\w.*\])$/gm)].map(
      ([, words = "[]"]) => `hermes ${(JSON.parse(words) as readonly string[]).join(" ")}`,
    );
    expect(commands).toHaveLength(2);
    for (const line of commands) expect(unknownIn(line), line).toBeUndefined();
  });
});

describe("every command that a page names is there, with its options", () => {
  it.each(PAGES)("%s", (page) => {
    for (const line of commandsIn(page)) expect(unknownIn(line), line).toBeUndefined();
  });

  it("and would be missed", () => {
    expect(unknownIn("hermes tools lst")).toBe("lst");
    expect(unknownIn("hermes sessions list --onwer me")).toBe("--onwer");
    expect(PAGES.flatMap(commandsIn).length).toBeGreaterThan(300);
  });
});
