import { join } from "node:path/posix";
import type { CallContext } from "../../../tool/tool.js";
import { dependsOn, findUpwards, packageOf } from "../project/find-upwards.js";
import { findTool, onPath } from "../project/programs.js";
import { readCargoText, readGoJson, readJestJson, readJUnit } from "./read-reports.js";
import type { TestReport } from "./report.js";

export const FRAMEWORKS = ["vitest", "jest", "pytest", "node", "go", "cargo"] as const;
export type Framework = (typeof FRAMEWORKS)[number];

export interface RunRequest {
  /** What to test; empty: all of the project. */
  readonly path: string;
  readonly filter: string | undefined;
  /** Where the report goes when it is not standard output. */
  readonly report: string;
}

interface Runner {
  /** Programs of which the first that is there is used. */
  readonly programs: readonly string[];
  /** The report is a file rather than what it prints. */
  readonly writesFile: boolean;
  arguments(request: RunRequest): readonly string[];
  read(text: string): TestReport | Promise<TestReport>;
}

const given = (value: string | undefined, ...words: readonly string[]): readonly string[] =>
  value === undefined || value === "" ? [] : words;

export const RUNNERS: Readonly<Record<Framework, Runner>> = {
  vitest: {
    programs: ["vitest"],
    writesFile: true,
    arguments: ({ path, filter, report }) => [
      "run",
      "--reporter=json",
      `--outputFile=${report}`,
      "--includeTaskLocation",
      ...given(filter, "-t", filter ?? ""),
      ...given(path, path),
    ],
    read: readJestJson,
  },
  jest: {
    programs: ["jest"],
    writesFile: true,
    arguments: ({ path, filter, report }) => [
      "--json",
      `--outputFile=${report}`,
      "--testLocationInResults",
      ...given(filter, "-t", filter ?? ""),
      ...given(path, path),
    ],
    read: readJestJson,
  },
  pytest: {
    programs: ["python3", "/usr/bin/python3", "python"],
    writesFile: true,
    arguments: ({ path, filter, report }) => [
      "-m",
      "pytest",
      "-q",
      `--junitxml=${report}`,
      "-o",
      "junit_family=xunit1",
      ...given(filter, "-k", filter ?? ""),
      ...given(path, path),
    ],
    read: readJUnit,
  },
  node: {
    programs: ["node"],
    writesFile: true,
    arguments: ({ path, filter, report }) => [
      "--test",
      "--test-reporter=junit",
      `--test-reporter-destination=${report}`,
      ...given(filter, `--test-name-pattern=${filter ?? ""}`),
      ...given(path, path),
    ],
    read: readJUnit,
  },
  go: {
    programs: ["go"],
    writesFile: false,
    arguments: ({ path, filter }) => [
      "test",
      "-json",
      ...given(filter, "-run", filter ?? ""),
      path === "" ? "./..." : path,
    ],
    read: readGoJson,
  },
  cargo: {
    programs: ["cargo"],
    writesFile: false,
    arguments: ({ filter }) => ["test", "--no-fail-fast", "--color", "never", ...given(filter, filter ?? "")],
    read: readCargoText,
  },
};

export interface FoundProject {
  readonly framework: Framework;
  /** Where the runner is started. */
  readonly folder: string;
}

const MARKERS: readonly (readonly [Framework, readonly string[]])[] = [
  ["vitest", ["vitest.config.ts", "vitest.config.js", "vitest.config.mts", "vitest.config.mjs"]],
  ["jest", ["jest.config.js", "jest.config.ts", "jest.config.mjs", "jest.config.cjs", "jest.config.json"]],
  ["pytest", ["pytest.ini", "conftest.py", "tox.ini"]],
  ["go", ["go.mod"]],
  ["cargo", ["Cargo.toml"]],
];

/** What the project tests itself with, told by its own files. */
export async function findProject(
  folder: string,
  { ctx, path }: { readonly ctx: CallContext; readonly path: string },
): Promise<FoundProject | undefined> {
  const { files } = ctx.environment;
  for (const [framework, names] of MARKERS) {
    const found = await findUpwards(files, folder, names);
    if (found !== undefined) return { framework, folder: found.folder };
  }
  const found = await packageOf(files, folder);
  if (found !== undefined) {
    for (const framework of ["vitest", "jest"] as const)
      if (dependsOn(found.json, framework)) return { framework, folder: found.folder };
    const { scripts } = found.json;
    const script = typeof scripts === "object" && scripts !== null ? Object.values(scripts).join("\n") : "";
    if (/\bnode\b.*--test\b/.test(script)) return { framework: "node", folder: found.folder };
  }
  return byNames(folder, { ctx, path });
}

/** Without settings the names of the test files tell. */
async function byNames(
  folder: string,
  { ctx, path }: { readonly ctx: CallContext; readonly path: string },
): Promise<FoundProject | undefined> {
  const { files } = ctx.environment;
  const places = [folder, join(folder, "tests"), join(folder, "test")];
  const names = [path];
  for (const place of places) {
    if ((await files.stat(place))?.type !== "directory") continue;
    names.push(...(await files.list(place)).map(({ name }) => name));
  }
  if (names.some((name) => /(?:^|\/)test_[^/]*\.py$|_test\.py$/.test(name)))
    return { framework: "pytest", folder };
  if (names.some((name) => /\.test\.(?:[cm]?js)$/.test(name))) return { framework: "node", folder };
  return undefined;
}

/** The program that runs a framework; Python is asked whether it has pytest. */
export async function findRunner(
  framework: Framework,
  { folder, ctx }: { readonly folder: string; readonly ctx: CallContext },
): Promise<string | undefined> {
  for (const name of RUNNERS[framework].programs) {
    const program = name.startsWith("/") ? await onPath(name, ctx) : await findTool(name, { folder, ctx });
    if (program === undefined) continue;
    if (framework !== "pytest" || (await hasPytest(program, ctx))) return program;
  }
  return undefined;
}

async function hasPytest(python: string, ctx: CallContext): Promise<boolean> {
  const { exitCode } = await ctx.environment.exec({
    command: [python, "-c", "import pytest"],
    cwd: ctx.session.cwd,
    timeoutMs: 20_000,
    signal: ctx.signal,
  });
  return exitCode === 0;
}
