import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { BUNDLED_NAMES, fixPython, lintBundled } from "./lint/bundled-linters.js";
import { type Counts, countsOf, type Diagnostic, inOrder } from "./lint/diagnostic.js";
import { findProjectLinter, lintWithProject } from "./lint/run-project-linter.js";
import { codeEffects } from "./project/effects.js";
import { type Source, shortName, sourcesOf, type Target, targetOf, writeSource } from "./project/sources.js";

const SHOWN = 200;

interface LintResult {
  readonly success: true;
  readonly status: "success";
  readonly linter: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly counts: Counts & { readonly files: number };
  readonly fixed_files?: readonly string[] | undefined;
  /** The mended text of code that was given as text. */
  readonly fixed_code?: string | undefined;
  readonly truncated?: true | undefined;
  readonly note?: string | undefined;
}

export default defineTool({
  name: "code_lint",
  toolset: "code",
  emoji: "🧹",
  description:
    "Find mistakes in code with the project's own linter (ESLint, Biome, Oxlint, Ruff), else bundled rules for " +
    "Python and syntax checks for JavaScript, TypeScript, JSON and YAML.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "File or folder." },
      code: { type: "string", description: "Instead of path; needs language." },
      language: { type: "string" },
      fix: { type: "boolean", default: false, description: "Mend what is safe." },
      timeout: { type: "integer", minimum: 1, maximum: 600, default: 120, description: "Seconds." },
    },
    additionalProperties: false,
  },
  permissions: ["file:read", "file:write", "terminal:execute"],
  examples: [
    {
      title: "Find an undefined name in Python",
      files: { "app.py": "import os\n\nprint(total)\n" },
      arguments: { path: "app.py" },
      result: {
        diagnostics: [
          { file: "app.py", line: 1, rule: "F401" },
          { file: "app.py", line: 3, rule: "F821", severity: "error" },
        ],
      },
    },
  ],
  effects: ({ path, fix }, scope) => codeEffects({ path, writes: fix, program: "code_lint" }, scope),
  timeoutMs: ({ timeout }) => timeout * 1000 + 10_000,

  async handler(args, ctx): Promise<LintResult> {
    const target = await targetOf(args, ctx);
    const project = await findProjectLinter(target, ctx);
    if (project !== undefined && target.path !== undefined) {
      const found = await lintWithProject({
        linter: project,
        path: target.path,
        fix: args.fix,
        timeoutMs: args.timeout * 1000,
        ctx,
      });
      return resultOf({ ...found, linter: project.linter.name, ctx });
    }
    return lintWithoutProject(target, { fix: args.fix, ctx });
  },

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),
});

async function lintWithoutProject(
  target: Target,
  { fix, ctx }: { readonly fix: boolean; readonly ctx: CallContext },
): Promise<LintResult> {
  const sources = await sourcesOf(target, ctx, (language) => language in BUNDLED_NAMES);
  if (sources.length === 0) throw nothingToLint(target);
  const diagnostics: Diagnostic[] = [];
  const fixedFiles: string[] = [];
  let fixedCode: string | undefined;
  for (const [index, source] of sources.entries()) {
    ctx.signal.throwIfAborted();
    if (index % 50 === 0) ctx.progress({ message: source.name, fraction: index / sources.length });
    const mended = fix ? await mend(source, ctx) : undefined;
    if (mended !== undefined && source.path === undefined) fixedCode = mended;
    if (mended !== undefined && source.path !== undefined) fixedFiles.push(source.name);
    const now = mended === undefined ? source : { ...source, text: mended };
    diagnostics.push(...((await lintBundled(now)) ?? []));
  }
  const used = new Set(sources.map(({ language }) => BUNDLED_NAMES[language ?? ""] ?? ""));
  return resultOf({
    diagnostics,
    files: sources.length,
    linter: [...used].join(", "),
    fixedFiles,
    ctx,
    fixedCode,
  });
}

async function mend(source: Source, ctx: CallContext): Promise<string | undefined> {
  if (source.language !== "python") return undefined;
  const mended = await fixPython(source.text);
  if (mended === source.text) return undefined;
  await writeSource(source, mended, ctx);
  return mended;
}

function resultOf(found: {
  readonly diagnostics: readonly Diagnostic[];
  readonly files: number;
  readonly linter: string;
  readonly fixedFiles: readonly string[];
  readonly fixedCode?: string | undefined;
  readonly ctx: CallContext;
}): LintResult {
  const named = inOrder(
    found.diagnostics.map((each) => ({ ...each, file: shortName(each.file, found.ctx) })),
  );
  return {
    success: true,
    status: "success",
    linter: found.linter,
    diagnostics: named.slice(0, SHOWN),
    counts: { ...countsOf(named), files: found.files },
    fixed_files: found.fixedFiles.length > 0 ? found.fixedFiles : undefined,
    fixed_code: found.fixedCode,
    ...(named.length > SHOWN && {
      truncated: true as const,
      note: `The first ${SHOWN} of ${named.length} findings; name a smaller part to see the rest.`,
    }),
  };
}

function nothingToLint({ path, language }: Target): ToolError {
  const what = path ?? `code in ${language ?? "an unknown language"}`;
  return new ToolError(`There is nothing here that can be checked: ${what}.`, {
    code: "failed",
    hint: "Bundled: Python, JavaScript, TypeScript, JSON, YAML. For more, set up a linter in the project.",
  });
}

function humanText({ diagnostics, counts, linter, fixed_files, note }: LintResult): string {
  const paint = { error: mark.bad, warning: mark.warning, info: mark.dim };
  const rows = diagnostics.map((each) => [
    mark.path(`${each.file}:${each.line}:${each.col}`),
    paint[each.severity](each.severity),
    each.message.split("\n")[0] ?? "",
    mark.dim(each.rule),
  ]);
  const total = `${linter}: ${counts.errors} errors, ${counts.warnings} warnings in ${counts.files} files`;
  const lines = [
    ...(rows.length === 0 ? [] : [columns(rows)]),
    counts.errors > 0 ? mark.bad(total) : mark.good(total),
    ...(fixed_files === undefined ? [] : [`mended: ${fixed_files.join(", ")}`]),
    ...(note === undefined ? [] : [note]),
  ];
  return lines.join("\n");
}
