import { messageOf } from "../../base/errno.js";
import { isRecord } from "../../base/record.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark, markDiff } from "../../tool/marked-text.js";
import type { CallContext } from "../../tool/tool.js";
import { findFormatter, PRETTIER_LANGUAGES } from "./format/project-formatters.js";
import { codeEffects } from "./project/effects.js";
import { findUpwards, packageOf, smallText } from "./project/find-upwards.js";
import { fileNameFor } from "./project/language.js";
import { runTool } from "./project/programs.js";
import { type Source, sourcesOf, targetOf, writeSource } from "./project/sources.js";

const MAX_DIFF_CHARS = 20_000;
const ONE_FILE_MS = 60_000;

interface FormatResult {
  readonly success: true;
  readonly status: "success";
  readonly changed: boolean;
  readonly formatter: string;
  readonly files_checked: number;
  readonly files_changed: readonly string[];
  readonly diff: string;
  /** Formatted text of code that was given as text. */
  readonly code?: string | undefined;
  readonly failed?: readonly { readonly file: string; readonly reason: string }[] | undefined;
  readonly diff_truncated?: true | undefined;
  readonly checked_only?: true | undefined;
}

export default defineTool({
  name: "code_format",
  toolset: "code",
  emoji: "✨",
  description:
    "Format code with the project's own formatter (Biome, Prettier, Ruff, Black, gofmt, rustfmt, shfmt), else a " +
    "bundled one (JavaScript, TypeScript, JSON, CSS, HTML, Markdown, YAML, Python).",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "File or folder." },
      code: { type: "string", description: "Instead of path; needs language." },
      language: { type: "string" },
      check: { type: "boolean", default: false, description: "Only tell what would change." },
    },
    additionalProperties: false,
  },
  permissions: ["file:read", "file:write", "terminal:execute"],
  examples: [
    {
      title: "Format a piece of Python",
      arguments: { code: "x = { 'a':1 }\n", language: "python" },
      result: { changed: true, code: 'x = {"a": 1}\n', formatter: "ruff (bundled)" },
    },
    {
      title: "See what would change in a file",
      files: { "config.json": '{"a":1,\n"b":[1,2]}' },
      arguments: { path: "config.json", check: true },
      result: { changed: true, files_changed: ["config.json"], checked_only: true },
    },
  ],
  effects: ({ path, check }, scope) => codeEffects({ path, writes: !check, program: "code_format" }, scope),

  async handler(args, ctx): Promise<FormatResult> {
    const target = await targetOf(args, ctx);
    const sources = await sourcesOf(target, ctx);
    const formatted: Formatted[] = [];
    const failed: { file: string; reason: string }[] = [];
    const used = new Set<string>();
    for (const [index, source] of sources.entries()) {
      ctx.signal.throwIfAborted();
      if (index % 20 === 0) ctx.progress({ message: source.name, fraction: index / sources.length });
      try {
        const done = await formatOne(source, { folder: target.folder, ctx });
        if (done === undefined) continue;
        used.add(done.formatter);
        formatted.push({ source, text: done.text });
      } catch (error) {
        // One file that cannot be read must not keep a whole folder from being formatted.
        if (sources.length === 1 || !ToolError.isInstance(error) || error.code !== "failed") throw error;
        failed.push({ file: source.name, reason: error.message });
      }
    }
    if (formatted.length === 0 && failed.length === 0)
      throw nothingToFormat(args.path ?? args.language ?? "");
    const changed = formatted.filter(({ source, text: now }) => source.text !== now);
    if (!args.check) for (const { source, text: now } of changed) await writeSource(source, now, ctx);
    const diff = await diffOf(changed);
    return {
      success: true,
      status: "success",
      changed: changed.length > 0,
      formatter: [...used].join(", "),
      files_checked: formatted.length,
      files_changed: changed.flatMap(({ source }) => (source.path === undefined ? [] : [source.name])),
      diff: diff.slice(0, MAX_DIFF_CHARS),
      code: args.code !== undefined ? (formatted[0]?.text ?? args.code) : undefined,
      failed: failed.length > 0 ? failed : undefined,
      diff_truncated: diff.length > MAX_DIFF_CHARS ? true : undefined,
      checked_only: args.check ? true : undefined,
    };
  },

  present: (out) => ({ model: [text(JSON.stringify(forModel(out)))], human: humanText(out) }),
});

interface Formatted {
  readonly source: Source;
  readonly text: string;
}

async function formatOne(
  source: Source,
  place: { readonly folder: string; readonly ctx: CallContext },
): Promise<{ readonly text: string; readonly formatter: string } | undefined> {
  const { language, path } = source;
  const own = language === undefined || path === undefined ? undefined : await findFormatter(language, place);
  if (own === undefined || path === undefined) return formatBundled(source, place);
  const ran = await runTool([own.program, ...own.arguments(path)], {
    ctx: place.ctx,
    cwd: own.folder,
    timeoutMs: ONE_FILE_MS,
    stdin: source.text,
  });
  if (ran.exitCode === 0 && (ran.stdout !== "" || source.text.trim() === "")) {
    return { text: ran.stdout, formatter: own.name };
  }
  throw new ToolError(`${own.name} cannot format ${source.name}: ${ran.stderr.trim().slice(0, 1_000)}`, {
    hint: "Mend its syntax first; code_lint shows where it breaks.",
  });
}

async function diffOf(changed: readonly Formatted[]): Promise<string> {
  if (changed.length === 0) return "";
  const { createTwoFilesPatch } = await import("diff");
  return changed
    .map(({ source, text: now }) =>
      createTwoFilesPatch(`a/${source.name}`, `b/${source.name}`, source.text, now, "", "", { context: 2 }),
    )
    .join("");
}

/** A model knows its own text; the diff of a file it has not seen changed is what helps it. */
function forModel({ diff, ...out }: FormatResult) {
  return out.code === undefined ? { ...out, diff } : out;
}

function nothingToFormat(what: string): ToolError {
  return new ToolError(`There is nothing here that can be formatted: ${what}.`, {
    hint: "Bundled: JavaScript, TypeScript, JSON, YAML, CSS, HTML, Markdown, GraphQL, Vue, Python.",
  });
}

function humanText(out: FormatResult): string {
  const verb = out.checked_only === true ? "would change" : "changed";
  const head = out.changed
    ? mark.strong(`${out.formatter} ${verb} ${out.files_changed.join(", ") || "the code"}`)
    : mark.good(`${out.formatter}: ${out.files_checked} files are formatted already`);
  const failed = (out.failed ?? []).map(({ file, reason }) => mark.bad(`${file}: ${reason}`));
  return [head, ...failed, ...(out.diff === "" ? [] : [markDiff(out.diff)])].join("\n");
}

/** Formats with what the package brings along; undefined when it cannot for this language. */
async function formatBundled(
  source: Source,
  place: { readonly folder: string; readonly ctx: CallContext },
): Promise<{ readonly text: string; readonly formatter: string } | undefined> {
  const { language } = source;
  if (language === "python") return { text: await formatPython(source), formatter: "ruff (bundled)" };
  if (language === undefined || !PRETTIER_LANGUAGES.includes(language)) return undefined;
  const { format } = await import("prettier");
  const options = await settingsIn(place);
  try {
    const filepath = source.path ?? fileNameFor(language);
    return { text: await format(source.text, { ...options, filepath }), formatter: "prettier (bundled)" };
  } catch (error) {
    throw cannotRead(source, error);
  }
}

async function formatPython(source: Source): Promise<string> {
  const { PositionEncoding, Workspace } = await import("@astral-sh/ruff-wasm-nodejs");
  const workspace = new Workspace(Workspace.defaultSettings(), PositionEncoding.Utf16);
  try {
    return workspace.format(source.text);
  } catch (error) {
    throw cannotRead(source, error);
  } finally {
    workspace.free();
  }
}

function cannotRead(source: Source, error: unknown): ToolError {
  const message = messageOf(error);
  return new ToolError(`${source.name} cannot be formatted: ${message.split("\n")[0] ?? ""}`, {
    hint: "Mend its syntax first; code_lint shows where it breaks.",
    cause: error,
  });
}

/** Settings that are data. Those that are programs are left to the project's own prettier. */
async function settingsIn(place: {
  readonly folder: string;
  readonly ctx: CallContext;
}): Promise<Readonly<Record<string, unknown>>> {
  const { files } = place.ctx.environment;
  const names = [".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".prettierrc.yml"];
  const found = await findUpwards(files, place.folder, names);
  const text = found === undefined ? undefined : await smallText(files, found.path);
  if (text !== undefined) {
    const { parse } = await import("yaml");
    return withoutPlugins(parse(text));
  }
  const own = (await packageOf(files, place.folder))?.json.prettier;
  return withoutPlugins(own);
}

/** A plugin would be code of the project that runs in this process. */
function withoutPlugins(settings: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(settings)) return {};
  const { plugins: _plugins, overrides: _overrides, ...plain } = settings;
  return plain;
}
