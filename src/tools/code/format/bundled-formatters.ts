import { messageOf } from "../../../base/errno.js";
import { isRecord } from "../../../base/record.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { findUpwards, packageOf, smallText } from "../project/find-upwards.js";
import { fileNameFor } from "../project/language.js";
import type { Source } from "../project/sources.js";
import { PRETTIER_LANGUAGES } from "./project-formatters.js";

/** Formats with what the package brings along; undefined when it cannot for this language. */
export async function formatBundled(
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
