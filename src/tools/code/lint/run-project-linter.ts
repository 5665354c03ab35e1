import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { findUpwards, smallText } from "../project/find-upwards.js";
import { findTool, runTool } from "../project/programs.js";
import { readSource, shortName, type Target, writeSource } from "../project/sources.js";
import type { Diagnostic } from "./diagnostic.js";
import { PROJECT_LINTERS, type ProjectLinter } from "./project-linters.js";

export interface FoundLinter {
  readonly linter: ProjectLinter;
  readonly program: string;
  /** The folder of its settings, where it is started. */
  readonly folder: string;
}

/** The linter that the project has settings for and whose program is there. */
export async function findProjectLinter(target: Target, ctx: CallContext): Promise<FoundLinter | undefined> {
  if (target.path === undefined) return undefined;
  const { files } = ctx.environment;
  for (const linter of PROJECT_LINTERS) {
    if (target.language !== undefined && !linter.languages.includes(target.language)) continue;
    const config = await findUpwards(files, target.folder, linter.configs);
    if (config === undefined) continue;
    if (config.name === "pyproject.toml" && !(await mentionsRuff(config.path, ctx))) continue;
    const program = await findTool(linter.name, { folder: target.folder, ctx });
    if (program !== undefined) return { linter, program, folder: config.folder };
  }
  return undefined;
}

async function mentionsRuff(path: string, ctx: CallContext): Promise<boolean> {
  const text = await smallText(ctx.environment.files, path);
  return text !== undefined && /^\[tool\.ruff/m.test(text);
}

export async function lintWithProject(request: {
  readonly linter: FoundLinter;
  readonly path: string;
  readonly fix: boolean;
  readonly timeoutMs: number;
  readonly ctx: CallContext;
}): Promise<{
  readonly diagnostics: readonly Diagnostic[];
  readonly files: number;
  readonly fixedFiles: readonly string[];
}> {
  const { linter, path, fix } = request;
  const first = await check(request, fix ? (linter.linter.fixFlags ?? []) : []);
  const fixedFiles = fix ? await fixAll(request, first) : [];
  const last =
    fixedFiles.length === 0 || linter.linter.fixFlags !== undefined ? first : await check(request, []);
  const files = new Set(last.diagnostics.map(({ file }) => file));
  return { diagnostics: last.diagnostics, files: Math.max(files.size, path === "" ? 0 : 1), fixedFiles };
}

interface Checked {
  readonly diagnostics: readonly Diagnostic[];
  readonly stdout: string;
}

async function check(
  request: Parameters<typeof lintWithProject>[0],
  flags: readonly string[],
): Promise<Checked> {
  const { linter, path, timeoutMs, ctx } = request;
  const argv = [linter.program, ...flags, ...linter.linter.check(path)];
  const ran = await runTool(argv, { ctx, cwd: linter.folder, timeoutMs });
  try {
    return { diagnostics: linter.linter.read(ran.stdout, linter.folder), stdout: ran.stdout };
  } catch {
    const said = (ran.stderr.trim() || ran.stdout.trim()).slice(0, 2_000);
    throw new ToolError(`${linter.linter.name} ended with ${ran.exitCode} and no findings: ${said}`, {
      hint: "Its settings may be broken; run it with the terminal tool to see all it says.",
    });
  }
}

/** Mended texts are written by us, so that they can be undone and nobody's change is overwritten. */
async function fixAll(
  request: Parameters<typeof lintWithProject>[0],
  checked: Checked,
): Promise<readonly string[]> {
  const { linter, ctx, timeoutMs } = request;
  const fixed: string[] = [];
  const write = async (path: string, mend: (text: string) => Promise<string> | string) => {
    const source = await readSource(path, { language: undefined, ctx });
    if (source === undefined) return;
    const mended = await mend(source.text);
    if (mended === source.text || mended === "") return;
    await writeSource(source, mended, ctx);
    fixed.push(shortName(path, ctx));
  };
  const { readFixed, fixArguments } = linter.linter;
  if (readFixed !== undefined) {
    for (const { path, text } of readFixed(checked.stdout)) await write(path, () => text);
    return fixed;
  }
  if (fixArguments === undefined) return fixed;
  const paths = new Set(checked.diagnostics.map(({ file }) => file));
  for (const path of paths) {
    await write(path, async (text) => {
      const argv = [linter.program, ...fixArguments(path)];
      const ran = await runTool(argv, { ctx, cwd: linter.folder, timeoutMs, stdin: text });
      return ran.exitCode === 0 ? ran.stdout : text;
    });
  }
  return fixed;
}
