import { quoteIfNeeded } from "../../base/quote.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { codeEffects } from "./project/effects.js";
import { nearName, runTool } from "./project/programs.js";
import { shortName, targetOf } from "./project/sources.js";
import { type FoundProject, FRAMEWORKS, findProject, findRunner, RUNNERS } from "./test-run/frameworks.js";
import { messageText, type TestReport } from "./test-run/report.js";

const SHOWN_FAILURES = 25;
/** Between what the runner prints and the report it wrote. */
const DIVIDER = "\n--- hermes report ---\n";

interface TestResult extends TestReport {
  readonly success: true;
  readonly status: "success";
  /** True when nothing failed and something was run. */
  readonly all_passed: boolean;
  readonly framework: string;
  readonly command: string;
  readonly duration_ms: number;
  readonly note?: string;
}

export default defineTool({
  name: "code_test",
  toolset: "code",
  emoji: "🧪",
  description: "Run the project's tests with its own test runner and return counts and failures.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", default: ".", description: "Project, test file or folder." },
      framework: { type: "string", enum: ["auto", ...FRAMEWORKS], default: "auto" },
      filter: { type: "string", description: "By test name." },
      timeout: { type: "integer", minimum: 1, maximum: 3_600, default: 300, description: "Seconds." },
    },
    additionalProperties: false,
  },
  permissions: ["terminal:execute", "code:execute", "file:read"],
  everyCallNeeds: ["terminal:execute", "code:execute"],
  tolerant: true,
  examples: [
    {
      title: "Run the tests of a small Node package",
      files: {
        "package.json": '{"name":"sums","type":"module","scripts":{"test":"node --test"}}',
        "sum.test.js":
          'import { test } from "node:test";\nimport assert from "node:assert";\n' +
          'test("adds", () => assert.equal(1 + 1, 2));\ntest("is wrong", () => assert.equal(1 + 1, 3));\n',
      },
      arguments: { path: "." },
      result: { framework: "node", passed: 1, failed: 1, all_passed: false },
    },
  ],
  effects: ({ path, filter }, scope) => [
    ...codeEffects({ path, writes: false, program: "code_test" }, scope),
    { action: "code:execute", resource: `tests ${filter ?? ""}`.trim(), mode: "execute" },
  ],
  timeoutMs: ({ timeout }) => timeout * 1000 + 15_000,

  async handler(args, ctx): Promise<TestResult> {
    const target = await targetOf({ path: args.path }, ctx);
    const path = target.path ?? "";
    const found = await findProject(target.folder, { ctx, path });
    const project: FoundProject | undefined =
      args.framework === "auto"
        ? found
        : { framework: args.framework, folder: found?.folder ?? target.folder };
    if (project === undefined) throw noTests(args.path);
    const program = await findRunner(project.framework, { folder: target.folder, ctx });
    if (program === undefined) throw noRunner(project);
    return runTests({
      project,
      program,
      ctx,
      path: path === project.folder ? "" : path,
      filter: args.filter,
      timeoutMs: args.timeout * 1000,
    });
  },

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),
});

async function runTests(run: {
  readonly project: FoundProject;
  readonly program: string;
  readonly path: string;
  readonly filter: string | undefined;
  readonly timeoutMs: number;
  readonly ctx: CallContext;
}): Promise<TestResult> {
  const { project, program, ctx } = run;
  const runner = RUNNERS[project.framework];
  const words = (report: string) => [
    nearName(program, project.folder),
    ...runner.arguments({ ...run, report }),
  ];
  // The report is a file of the environment: made there, read there, and gone when the command ends.
  const argv = runner.writesFile
    ? [
        "sh",
        "-c",
        `r=$(mktemp) || exit 1; trap 'rm -f "$r"' EXIT; ${words("REPORT").map(quoteIfNeeded).join(" ").replace("REPORT", '"$r"')}; code=$?; printf '%s' ${quoteIfNeeded(DIVIDER)}; cat "$r"; exit $code`,
      ]
    : words("");
  ctx.progress({ message: `${project.framework} in ${shortName(project.folder, ctx)}` });
  const ran = await runTool(argv, { ctx, cwd: project.folder, timeoutMs: run.timeoutMs });
  const at = ran.stdout.lastIndexOf(DIVIDER);
  const report = runner.writesFile
    ? ran.stdout.slice(at < 0 ? ran.stdout.length : at + DIVIDER.length)
    : ran.stdout;
  const read = await readReport(() => runner.read(report), { ran, framework: project.framework });
  const failures = read.failures.map(({ file, ...failure }) => ({
    ...failure,
    ...(file !== undefined && file !== "" && { file: shortName(file, ctx) }),
  }));
  return {
    success: true,
    status: "success",
    all_passed: read.failed === 0 && read.passed > 0,
    framework: project.framework,
    command: words("").map(quoteIfNeeded).join(" "),
    passed: read.passed,
    failed: read.failed,
    skipped: read.skipped,
    duration_ms: Math.round(ran.durationMs),
    failures: failures.slice(0, SHOWN_FAILURES),
    ...(failures.length > SHOWN_FAILURES && {
      note: `The first ${SHOWN_FAILURES} of ${failures.length} failures.`,
    }),
  };
}

async function readReport(
  read: () => TestReport | Promise<TestReport>,
  { ran, framework }: { ran: { stdout: string; stderr: string; exitCode: number }; framework: string },
): Promise<TestReport> {
  try {
    return await read();
  } catch {
    const said = messageText(`${ran.stderr}\n${ran.stdout.split(DIVIDER)[0] ?? ""}`);
    throw new ToolError(`${framework} ended with ${ran.exitCode} and wrote no report: ${said}`, {
      hint: "The tests could not be started; run the same command with the terminal tool to see all of it.",
    });
  }
}

function noTests(path: string): ToolError {
  return new ToolError(`No test set-up was found in ${path}.`, {
    code: "not_found",
    hint: `Name the project's folder, or the framework: ${FRAMEWORKS.join(", ")}.`,
  });
}

function noRunner({ framework }: FoundProject): ToolError {
  const install: Readonly<Record<string, string>> = {
    vitest: "Run npm install in the project.",
    jest: "Run npm install in the project.",
    pytest: "Install pytest, for example with python3 -m pip install pytest.",
  };
  return new ToolError(`${framework} is not installed here.`, {
    code: "unavailable",
    hint: install[framework] ?? `Install ${framework}.`,
  });
}

function humanText(out: TestResult): string {
  const counts = `${out.passed} passed, ${out.failed} failed, ${out.skipped} skipped`;
  const head = `${out.framework}: ${counts} (${(out.duration_ms / 1000).toFixed(1)} s)`;
  const failures = out.failures.map(({ name, file, line, message }) => {
    const place = file === undefined ? "" : mark.dim(` ${file}${line === undefined ? "" : `:${line}`}`);
    return `${mark.bad("✗")} ${mark.strong(name)}${place}\n${indented(message)}`;
  });
  return [...failures, out.failed > 0 ? mark.bad(head) : mark.good(head)].join("\n");
}

function indented(message: string): string {
  return message
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}
