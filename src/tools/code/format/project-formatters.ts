import type { CallContext } from "../../../tool/tool.js";
import { dependsOn, findUpwards, packageOf, smallText } from "../project/find-upwards.js";
import type { Language } from "../project/language.js";
import { findTool } from "../project/programs.js";

/** A formatter that reads a file on standard input and prints it formatted. */
interface ProjectFormatter {
  readonly name: string;
  readonly languages: readonly Language[];
  /** Files whose presence says that the project uses it; none: wherever the program is. */
  readonly configs: readonly string[];
  /** What a settings file that others share must say. */
  readonly says?: RegExp;
  /** A package.json that needs this package counts as well. */
  readonly packageName?: string;
  arguments(path: string): readonly string[];
}

/** What prettier formats. */
export const PRETTIER_LANGUAGES: readonly Language[] = [
  "javascript",
  "typescript",
  "json",
  "yaml",
  "css",
  "html",
  "markdown",
  "graphql",
  "vue",
];

const PRETTIER_CONFIGS = [
  ".prettierrc",
  ".prettierrc.json",
  ".prettierrc.yaml",
  ".prettierrc.yml",
  ".prettierrc.js",
  ".prettierrc.mjs",
  ".prettierrc.cjs",
  "prettier.config.js",
  "prettier.config.mjs",
  "prettier.config.cjs",
] as const;

const FORMATTERS: readonly ProjectFormatter[] = [
  {
    name: "biome",
    languages: ["javascript", "typescript", "json", "css", "graphql"],
    configs: ["biome.json", "biome.jsonc"],
    arguments: (path) => ["format", `--stdin-file-path=${path}`],
  },
  {
    name: "prettier",
    languages: PRETTIER_LANGUAGES,
    configs: PRETTIER_CONFIGS,
    packageName: "prettier",
    arguments: (path) => ["--stdin-filepath", path],
  },
  {
    name: "ruff",
    languages: ["python"],
    configs: ["ruff.toml", ".ruff.toml", "pyproject.toml"],
    says: /^\[tool\.ruff/m,
    arguments: (path) => ["format", "--no-cache", "--stdin-filename", path, "-"],
  },
  {
    name: "black",
    languages: ["python"],
    configs: ["pyproject.toml"],
    says: /^\[tool\.black/m,
    arguments: (path) => ["--quiet", "--stdin-filename", path, "-"],
  },
  { name: "gofmt", languages: ["go"], configs: [], arguments: () => [] },
  {
    name: "rustfmt",
    languages: ["rust"],
    configs: [],
    arguments: () => ["--edition", "2021", "--emit", "stdout"],
  },
  { name: "shfmt", languages: ["shell"], configs: [], arguments: (path) => ["-filename", path] },
];

export interface FoundFormatter {
  readonly name: string;
  readonly program: string;
  readonly folder: string;
  arguments(path: string): readonly string[];
}

/** The formatter that the project has chosen for this language and whose program is there. */
export async function findFormatter(
  language: Language,
  place: { readonly folder: string; readonly ctx: CallContext },
): Promise<FoundFormatter | undefined> {
  for (const formatter of FORMATTERS) {
    if (!formatter.languages.includes(language)) continue;
    const folder = await chosenIn(formatter, place);
    if (folder === undefined) continue;
    const program = await findTool(formatter.name, place);
    if (program !== undefined)
      return { name: formatter.name, program, folder, arguments: formatter.arguments };
  }
  return undefined;
}

async function chosenIn(
  formatter: ProjectFormatter,
  { folder, ctx }: { readonly folder: string; readonly ctx: CallContext },
): Promise<string | undefined> {
  const { files } = ctx.environment;
  if (formatter.configs.length === 0) return folder;
  const config = await findUpwards(files, folder, formatter.configs);
  const says = formatter.says;
  if (config !== undefined) {
    if (says === undefined || config.name !== "pyproject.toml") return config.folder;
    if (says.test((await smallText(files, config.path)) ?? "")) return config.folder;
  }
  if (formatter.packageName === undefined) return undefined;
  const found = await packageOf(files, folder);
  if (found === undefined) return undefined;
  return dependsOn(found.json, formatter.packageName) ? found.folder : undefined;
}
