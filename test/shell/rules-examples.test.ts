import { describe, expect, it } from "vitest";
import { judgeCommand } from "../../src/shell/judge.js";
import { unfold } from "../../src/shell/read/unfold.js";
import { SUBJECTS } from "../../src/shell/rules/index.js";
import { CLASS_FAMILIES, decidingRow, programsOf, type Row, type Tool } from "../../src/shell/rules/row.js";
import { ruleIndex } from "../../src/shell/rules/rule-index.js";
import type { SimpleCommand } from "../../src/shell/types.js";

interface Example {
  readonly tool: Tool;
  readonly row: Row;
  readonly line: string;
}

const TOOLS = SUBJECTS.flatMap(({ tools }) => tools);
const ROWS = TOOLS.flatMap((tool) => tool.rows.map((row) => ({ tool, row })));
const MATCHES = ROWS.flatMap(({ tool, row }) => row.match.map((line): Example => ({ tool, row, line })));

const concerns = (tool: Tool, { program }: SimpleCommand): boolean =>
  programsOf(tool).some((name) => name === "*" || name === program || name === `${program}.exe`);

/** Whether this very row decides about one of the commands that the line would run. */
function catches({ tool, row, line }: Example): boolean {
  const run = unfold(line, { notablePrograms: ruleIndex().programs });
  const commands = [...(run?.commands ?? []), ...[...(run?.variants.values() ?? [])].flat()];
  const carried = commands.flatMap((command) =>
    TOOLS.filter((each) => each.carries !== undefined && concerns(each, command)).map((each) =>
      each.carries?.(command),
    ),
  );
  return [...commands, ...carried].some(
    (command) => command !== undefined && concerns(tool, command) && decidingRow(tool, command)?.row === row,
  );
}

describe("what a row says it catches", () => {
  it.each(MATCHES)("$line", (example) => {
    expect(catches(example), "another row of its program decides").toBe(true);
    expect(judgeCommand(example.line).verdict).toBe(example.row.level ?? "danger");
  });
});

describe("what a row says it leaves alone", () => {
  const own = ROWS.flatMap(({ tool, row }) =>
    (row.not_match ?? []).map((line): Example => ({ tool, row, line })),
  );
  it.each(own)("$line", (example) => {
    expect(catches(example)).toBe(false);
    expect(judgeCommand(example.line).verdict).toBe("safe");
  });

  const lines = TOOLS.flatMap(({ not_match = [] }) => not_match);
  it.each(lines)("%s, by all rows of its program", (line) => {
    expect(judgeCommand(line).verdict).toBe("safe");
  });
});

describe("a question for help, or what would happen", () => {
  const verbs = MATCHES.filter(({ tool, row }) => tool.dry !== "" && row.path !== undefined);
  it.each(verbs)("is not caught: $line", (example) => {
    expect(catches({ ...example, line: `${example.line} --help` })).toBe(false);
    if (example.tool.dry?.split(" ").includes("dry-run") === true)
      expect(catches({ ...example, line: `${example.line} --dry-run` })).toBe(false);
  });
});

describe("the rows", () => {
  it("have examples, an id of family and kind, and a reason that continues 'this command'", () => {
    for (const { tool, row } of ROWS) {
      const about = JSON.stringify({ program: tool.program, path: row.path, rule: row.rule });
      expect(row.match.length, about).toBeGreaterThan(0);
      expect(row.reason ?? tool.reason, about).toMatch(/^[a-z].*[a-zA-Z]$/);
      expect(row.rule ?? tool.rule ?? "a.b", about).toMatch(/^[a-z]+(?:-[a-z]+)*\.[a-z0-9]+(?:-[a-z0-9]+)*$/);
    }
  });

  it("stand in one file for each program, and perhaps in those of a class that any program may fall into", () => {
    const homes = new Map<string, Set<number>>();
    for (const [index, { tools }] of SUBJECTS.entries())
      for (const program of tools
        .filter(({ family = "" }) => !CLASS_FAMILIES.has(family))
        .flatMap(programsOf)) {
        if (program === "*") continue;
        homes.set(program, (homes.get(program) ?? new Set()).add(index));
      }
    expect([...homes].filter(([, files]) => files.size > 1).map(([program]) => program)).toEqual([]);
  });
});
