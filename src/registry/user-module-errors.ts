import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { transpiledPath, typescriptVersionAt } from "./user-module-hooks.js";
import { typeScriptPath } from "./user-module-typescript.js";

/** What went wrong while a tool module was imported, in words for the person who wrote it. */
export interface ImportProblem {
  readonly message: string;
  readonly line?: number | undefined;
}

/** A place in a tool module or one of its helpers, as V8 prints it in stacks and syntax errors. */
const MODULE_PLACE = /(file:\/\/[^\s?]+)\?hermes=[^\s:]*:(\d+)(?::(\d+))?/;

/** A mistake whose line is known, though no stack leads there. */
export class PlacedError extends Error {
  readonly line: number | undefined;

  constructor(message: string, line?: number) {
    super(message);
    this.line = line;
  }
}

export function describeImportError(
  error: unknown,
  module: { readonly file: string; readonly cacheDir: string },
): ImportProblem {
  if (error instanceof PlacedError) {
    return { message: error.message, line: error.line };
  }
  const message = messageOf(error, module.file);
  const place = placeOf(error, module.cacheDir);
  if (place === undefined) return { message };
  if (place.file === module.file) return { message, line: place.line };
  return { message: `${message} (in ${place.file}:${place.line})` };
}

/** A text such as a stack with the lines that the authors wrote, instead of those of the transpiled modules. */
export function readablePlaces(text: string, cacheDir: string): string {
  return text.replace(new RegExp(MODULE_PLACE, "g"), (_all, url: string, line: string, column?: string) => {
    const file = fileURLToPath(url);
    const place = { file, line: Number(line), column: Number(column ?? 1), cacheDir };
    return `${file}:${originalLine(place) ?? line}`;
  });
}

function messageOf(error: unknown, file: string): string {
  if (!(error instanceof Error)) return `The module threw ${inWords(error)} instead of an Error.`;
  const missing = /^Cannot find package '([^']+)'/.exec(error.message)?.[1];
  if (missing !== undefined) {
    return `Cannot find package '${missing}'. Install it with: npm install --prefix ${dirname(file)} ${missing}`;
  }
  return `${error.name}: ${error.message}`;
}

function inWords(thrown: unknown): string {
  try {
    return typeof thrown === "string" ? JSON.stringify(thrown) : String(thrown);
  } catch {
    return "an object";
  }
}

function placeOf(error: unknown, cacheDir: string): { file: string; line: number } | undefined {
  const stack = error instanceof Error && typeof error.stack === "string" ? error.stack : "";
  const match = MODULE_PLACE.exec(stack);
  if (match?.[1] === undefined) return undefined;
  const file = fileURLToPath(match[1]);
  const line = Number(match[2]);
  return { file, line: originalLine({ file, line, column: Number(match[3] ?? 1), cacheDir }) ?? line };
}

/** Stacks count lines of the transpiled module; its source map leads back to the line the author wrote. */
function originalLine(place: {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly cacheDir: string;
}): number | undefined {
  if (!/\.m?ts$/.test(place.file)) return undefined;
  try {
    const text = readFileSync(place.file, "utf8");
    const typescriptVersion = typescriptVersionAt(typeScriptPath());
    const { file, cacheDir } = place;
    const javascript = readFileSync(transpiledPath({ file, text, cacheDir, typescriptVersion }), "utf8");
    const encoded = /\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/.exec(javascript)?.[1];
    if (encoded === undefined) return undefined;
    const map = new SourceMap(JSON.parse(Buffer.from(encoded, "base64").toString("utf8")));
    const entry = map.findEntry(place.line - 1, place.column - 1);
    return "originalLine" in entry ? entry.originalLine + 1 : undefined;
  } catch {
    return undefined;
  }
}
