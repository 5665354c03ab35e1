import { join, relative } from "node:path/posix";
import { sha256 } from "../../../base/hash.js";
import { isBelow } from "../../../base/path.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { refuseDevice, refuseProtectedWrite } from "../../files/path-guard.js";
import { locate } from "../../files/paths.js";
import { fileNameFor, type Language, languageNamed, languageOfPath } from "./language.js";

const MAX_FILES = 2_000;
const MAX_BYTES = 4 * 1024 * 1024;
const SKIPPED = new Set([
  "node_modules",
  ".git",
  "dist",
  "build",
  "target",
  "__pycache__",
  ".venv",
  "venv",
  "vendor",
]);

/** One file whose text a tool looks at; a snippet has no place. */
export interface Source {
  /** Where it lies; undefined for code that was given as text. */
  readonly path: string | undefined;
  /** Name for messages: relative to the working folder. */
  readonly name: string;
  readonly language: Language | undefined;
  readonly text: string;
  readonly sha256: string;
}

export interface Target {
  /** Real path of the file or folder; undefined for given code. */
  readonly path: string | undefined;
  readonly isFolder: boolean;
  /** Where a project is looked for. */
  readonly folder: string;
  readonly language: Language | undefined;
  readonly code: string | undefined;
}

export interface TargetArguments {
  readonly path?: string | undefined;
  readonly code?: string | undefined;
  readonly language?: string | undefined;
}

/** What a call is about: exactly one of a path and a text. */
export async function targetOf(args: TargetArguments, ctx: CallContext): Promise<Target> {
  const language = args.language === undefined ? undefined : knownLanguage(args.language);
  if ((args.path === undefined) === (args.code === undefined)) {
    throw new ToolError("Give either path or code.", { code: "invalid_arguments" });
  }
  if (args.path === undefined) {
    if (language === undefined) {
      throw new ToolError("Code that is given as text needs its language.", {
        code: "invalid_arguments",
        hint: 'For example language: "python".',
      });
    }
    return { path: undefined, isFolder: false, folder: ctx.session.cwd, language, code: args.code };
  }
  const location = await locate(args.path, ctx);
  refuseDevice(location);
  const stat = await ctx.environment.files.stat(location.real);
  if (stat === undefined) {
    throw new ToolError(`${location.path} does not exist.`, {
      code: "not_found",
      hint: "Look with directory_list or search_files.",
    });
  }
  const isFolder = stat.type === "directory";
  return {
    path: location.real,
    isFolder,
    folder: isFolder ? location.real : join(location.real, ".."),
    language: language ?? (isFolder ? undefined : languageOfPath(location.real)),
    code: undefined,
  };
}

function knownLanguage(name: string): Language {
  const language = languageNamed(name);
  if (language !== undefined) return language;
  throw new ToolError(`The language ${JSON.stringify(name)} is not known.`, {
    code: "invalid_arguments",
    hint: "Known: python, javascript, typescript, json, yaml, css, html, markdown, go, rust, shell.",
  });
}

/** The files of a target, read; those that are not text in a known language are left out. */
export async function sourcesOf(
  target: Target,
  ctx: CallContext,
  wanted: (language: Language) => boolean = () => true,
): Promise<readonly Source[]> {
  if (target.code !== undefined) {
    const language = target.language ?? "json";
    return [sourceOf({ path: undefined, name: fileNameFor(language), language, text: target.code })];
  }
  if (target.path === undefined) return [];
  const paths = target.isFolder ? await filesBelow(target.path, ctx) : [target.path];
  const sources: Source[] = [];
  for (const path of paths) {
    const language = target.isFolder ? languageOfPath(path) : (target.language ?? languageOfPath(path));
    if (language === undefined || !wanted(language)) continue;
    const source = await readSource(path, { language, ctx });
    if (source !== undefined) sources.push(source);
  }
  return sources;
}

export async function readSource(
  path: string,
  { language, ctx }: { readonly language: Language | undefined; readonly ctx: CallContext },
): Promise<Source | undefined> {
  const { files } = ctx.environment;
  const stat = await files.stat(path);
  if (stat?.type !== "file" || stat.size > MAX_BYTES) return undefined;
  const bytes = await files.read(path);
  const text = Buffer.from(bytes).toString("utf8");
  if (text.includes("\0")) return undefined;
  return sourceOf({ path, name: shortName(path, ctx), language, text, bytes });
}

function sourceOf(parts: Omit<Source, "sha256"> & { readonly bytes?: Uint8Array }): Source {
  const { bytes, ...source } = parts;
  return { ...source, sha256: sha256(bytes ?? source.text) };
}

/** Relative to the working folder when it lies below. */
export function shortName(path: string, ctx: CallContext): string {
  return isBelow(path, ctx.session.cwd) ? relative(ctx.session.cwd, path) : path;
}

async function filesBelow(folder: string, ctx: CallContext): Promise<readonly string[]> {
  const found: string[] = [];
  const pending = [folder];
  for (let at = pending.pop(); at !== undefined && found.length < MAX_FILES; at = pending.pop()) {
    ctx.signal.throwIfAborted();
    for (const { name, type } of await ctx.environment.files.list(at)) {
      if (type === "directory" && !SKIPPED.has(name) && !name.startsWith(".")) pending.push(join(at, name));
      if (type === "file" && found.length < MAX_FILES) found.push(join(at, name));
    }
  }
  return found.sort();
}

/** Writes new text over a file that was read before, unless somebody has changed it since. */
export async function writeSource(source: Source, text: string, ctx: CallContext): Promise<void> {
  if (source.path === undefined) return;
  refuseProtectedWrite(source.path, ctx);
  await ctx.environment.files.write(source.path, Buffer.from(text, "utf8"), {
    expected: { sha256: source.sha256 },
  });
}
