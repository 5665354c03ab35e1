import { basename, extname } from "node:path/posix";

export type Language =
  | "python"
  | "javascript"
  | "typescript"
  | "json"
  | "yaml"
  | "css"
  | "html"
  | "markdown"
  | "graphql"
  | "vue"
  | "go"
  | "rust"
  | "shell";

const BY_EXTENSION: Readonly<Record<string, Language>> = {
  ".py": "python",
  ".pyi": "python",
  ".js": "javascript",
  ".mjs": "javascript",
  ".cjs": "javascript",
  ".jsx": "javascript",
  ".ts": "typescript",
  ".mts": "typescript",
  ".cts": "typescript",
  ".tsx": "typescript",
  ".json": "json",
  ".jsonc": "json",
  ".json5": "json",
  ".yaml": "yaml",
  ".yml": "yaml",
  ".css": "css",
  ".scss": "css",
  ".less": "css",
  ".html": "html",
  ".htm": "html",
  ".md": "markdown",
  ".markdown": "markdown",
  ".graphql": "graphql",
  ".gql": "graphql",
  ".vue": "vue",
  ".go": "go",
  ".rs": "rust",
  ".sh": "shell",
  ".bash": "shell",
};

const OTHER_NAMES: Readonly<Record<string, Language>> = {
  py: "python",
  js: "javascript",
  jsx: "javascript",
  node: "javascript",
  ts: "typescript",
  tsx: "typescript",
  yml: "yaml",
  md: "markdown",
  scss: "css",
  bash: "shell",
  sh: "shell",
  golang: "go",
};

const NAMES: ReadonlySet<string> = new Set(Object.values(BY_EXTENSION));

export function languageOfPath(path: string): Language | undefined {
  if (basename(path) === ".prettierrc") return "json";
  return BY_EXTENSION[extname(path).toLowerCase()];
}

/** A language as people write it; undefined when it is none we know. */
export function languageNamed(name: string): Language | undefined {
  const lower = name.toLowerCase();
  return NAMES.has(lower) ? (lower as Language) : OTHER_NAMES[lower];
}

/** A file name of that language, for programs that go by names. */
export function fileNameFor(language: Language): string {
  const preferred: Partial<Record<Language, string>> = {
    typescript: ".ts",
    javascript: ".js",
    yaml: ".yaml",
  };
  const found = Object.entries(BY_EXTENSION).find(([, each]) => each === language)?.[0];
  return `snippet${preferred[language] ?? found ?? ".txt"}`;
}
