import { isDownloadPlace } from "../rules/places.js";
import type { EffectList } from "./effects.js";
import type { Language } from "./languages.js";
import type { CodeFacts } from "./values.js";

/** What strings and names of a program give away when its calls cannot be followed one by one. */

interface World {
  readonly language: Language;
  readonly facts: CodeFacts;
  readonly list: EffectList;
  readonly code: string;
}

/** Names that start something; `process` is everywhere in JavaScript and starts nothing. */
const STARTERS = new Set(
  (
    "system popen Popen exec execSync execvp execv execl execlp eval spawn spawnSync spawnlp subprocess child_process " +
    "callCommand createProcess readProcess proc shell sh Process ProcessBuilder Runtime Command cmd shell_exec passthru " +
    "proc_open run_program getoutput getstatusoutput execute command posix_spawn execa $ run-program open3 Open3 sys.process"
  ).split(" "),
);
/** A string that reads like a command line: its program, a space, and more. */
const COMMAND_LINE =
  /^\s*(?:sudo\s+)?(?:\/\w+\/(?:\w+\/)*)?(?:rm|dd|mkfs[.\w]*|shred|wipefs|shutdown|reboot|halt|poweroff|curl|wget|git|chmod|chown|kill|killall|pkill|sh|bash|zsh|mv|truncate|find|docker|kubectl|systemctl|crontab|nc|terraform|aws|psql|mysql|redis-cli)\s+\S/;
const DELETE_FLAG = /^-{1,2}(?:[a-zA-Z]*[rR][a-zA-Z]*|recursive)$/;
const MOST_TEXTS = 24;

/** Signs that start a program: the tagged `$`ls`` of scripts, Perl's `open(F, "-|", …)`. */
const STARTING_SIGNS: Readonly<Record<string, RegExp>> = {
  javascript: /\$`/,
  perl: /["'](?:-\||\|-)["']/,
};

export function judgeLiterals({ language, facts, list, code }: World): void {
  const { names, texts } = facts;
  const signs = Object.hasOwn(STARTING_SIGNS, language.name) ? STARTING_SIGNS[language.name] : undefined;
  const starts = [...STARTERS].some((name) => names.has(name)) || signs?.test(code) === true;
  if (language.name === "perl" && /(?:^|[;{}\s])eval\s*(?:;|\}|$)/.test(code))
    list.note("interpreter.evaluated-text", "runs text as code that nobody can see");
  if (starts) {
    for (const text of texts.filter((one) => COMMAND_LINE.test(one)).slice(0, MOST_TEXTS)) list.does(text);
    const removes = texts.some((text) => /^(?:\/(?:usr\/)?bin\/)?rm$/.test(text));
    if (removes && texts.some((text) => DELETE_FLAG.test(text)))
      list.note("interpreter.delete", "deletes a folder with everything in it");
  }
  judgeWords({ language, facts, list, code });
  if (LOADERS.some((name) => names.has(name)) && texts.some(isElsewhere))
    list.note("interpreter.foreign-file", "runs code from a place anybody can write");
}

const LOADERS =
  "require import exec eval run_path run_module dofile loadfile load source runInThisContext runInNewContext include require_relative SourceFileLoader spec_from_file_location compile".split(
    " ",
  );

export function isElsewhere(text: string): boolean {
  return /\.\w+$|^\/\S+$/.test(text) && isDownloadPlace({ text, known: true, glob: false });
}

/** Verbs that mean the same wherever they stand, called or handed on. */
const DELETE_VERBS =
  "rm_rf rm_rf! rm_r rmtree remove_tree rmSync rmdirSync rimraf rimrafSync removeDirectoryRecursive removePathForcibly deleteRecursively delete-tree deleteDir emptyDirSync".split(
    " ",
  );
/** Ways to a function that never spell its name; no ordinary one-liner needs them. */
const REACHES_DOWN = "__subclasses__ __globals__ __builtins__ __bases__ __mro__ __getattribute__".split(" ");
const MODEL_VERBS: Readonly<Record<string, readonly string[]>> = {
  ruby: "delete_all destroy_all delete_by destroy_by drop_table truncate_tables truncate drop_database".split(
    " ",
  ),
  php: "truncate forceDelete dropIfExists dropAllTables dropColumn".split(" "),
};

function judgeWords({ language, facts, list }: World): void {
  const { names, calls } = facts;
  if (language.name === "python" && REACHES_DOWN.some((name) => names.has(name)))
    list.note("interpreter.hidden-name", "reaches functions through the inside of the language");
  if (DELETE_VERBS.some((name) => names.has(name)))
    list.note("interpreter.delete", "deletes a folder with everything in it");
  const verbs = Object.hasOwn(MODEL_VERBS, language.name) ? (MODEL_VERBS[language.name] ?? []) : [];
  const rows =
    verbs.some((name) => names.has(name)) ||
    (names.has("objects") && calls.some(({ name }) => /\.(?:delete|_raw_delete)$/.test(name))) ||
    (language.name === "php" &&
      (names.has("DB") || names.has("query")) &&
      calls.some(({ name }) => /\.delete$/.test(name)));
  if (rows) list.note("interpreter.rows", "deletes rows of a database without naming them");
}

/** `!rm -rf x` and `%%bash` of notebooks. */
export function notebookCommands(code: string): readonly string[] {
  if (!/^[ \t]*[!%]/m.test(code)) return [];
  if (/^\s*%%(?:bash|sh|script|system|!)/.test(code)) return [code.replace(/^\s*%%.*\n?/, "")];
  return [
    ...code.matchAll(/^[ \t]*(?:!{1,2}|%(?:sx|system|sc)[ \t]+|%(?=(?:rm|mv|cp|rmdir)\b))[ \t]*(\S.*)$/gm),
  ]
    .slice(0, MOST_TEXTS)
    .map((match) => match[1] ?? "");
}
