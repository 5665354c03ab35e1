/**
 * Lines that do nothing but set a repository's harmless settings. Git writes them into the file that also says what it
 * runs (hooks, editors, filters), so commands in the strict sandbox cannot change it; such a line says all it will do.
 */
const HARMLESS = new RegExp(
  `^(?:${[
    "user\\.(?:name|email)|author\\.(?:name|email)|committer\\.(?:name|email)",
    "init\\.defaultbranch|pull\\.(?:rebase|ff)|push\\.(?:default|autosetupremote|followtags)|fetch\\.prune(?:tags)?",
    "merge\\.(?:ff|conflictstyle)|rebase\\.(?:autostash|autosquash|updaterefs)|rerere\\.(?:enabled|autoupdate)",
    "core\\.(?:autocrlf|eol|safecrlf|ignorecase|filemode|quotepath|longpaths|abbrev|symlinks|bare)",
    "diff\\.(?:algorithm|renames|colormoved)|commit\\.(?:gpgsign|verbose)|tag\\.(?:gpgsign|sort)|log\\.(?:date|decorate)",
    "(?:color|advice|column|status)\\.[\\w.-]+|gc\\.auto|http\\.postbuffer|submodule\\.recurse",
    "branch\\..+\\.(?:remote|merge|rebase|description)|remote\\.pushdefault|remote\\..+\\.(?:fetch|prune|tagopt)",
  ].join("|")})$`,
  "i",
);
const ADDRESS_KEY = /^remote\..+\.(?:push)?url$/i;
/** `ext::sh -c …` is a program, and so is whatever else stands before two colons. */
const ADDRESS =
  /^(?!.*::)(?:(?:https?|ssh|git|file):\/\/[^-]|[\w.-]+@[\w.][\w.-]*:|\.{0,2}\/|[\w.][\w./-]*$)/i;
const WORD = /(?:[\w./:@+=,%^-]|'[^'\n]*'|"[^"$`\\!\n]*")+/y;
const BETWEEN = /\s*(?:&&|;|\n)\s*/y;
const CONFIG_FLAGS = /^--(?:local|add|replace-all|unset|unset-all|bool|int|type=\w+|get|get-all|list)$|^-l$/;
const REMOTE_VERBS = /^(?:add|set-url|remove|rm|rename|get-url|set-branches)$/;
const REMOTE_FLAGS = /^(?:-v|--verbose|--push|--all|--add|--delete|--tags|--no-tags)$/;

/** Whether every command of a line is such a one, or goes to another folder. */
export function isGitSettingsOnly(line: string): boolean {
  const commands = plainCommands(line.trim());
  if (commands === undefined) return false;
  return commands.some(([program]) => program === "git") && commands.every(isHarmless);
}

function isHarmless([program, ...words]: readonly string[]): boolean {
  if (program === "cd") return words.length === 1;
  if (program !== "git") return false;
  const rest = words[0] === "-C" ? words.slice(2) : words;
  if (rest[0] === "config") return isHarmlessConfig(rest.slice(1));
  return rest[0] === "remote" && isHarmlessRemote(rest.slice(1));
}

function isHarmlessConfig(words: readonly string[]): boolean {
  const flags = words.filter((word) => word.startsWith("-"));
  const [first = "", ...others] = words.filter((word) => !word.startsWith("-"));
  const [key = "", ...values] = /^(?:set|unset|get|list)$/.test(first) ? others : [first, ...others];
  if (!flags.every((flag) => CONFIG_FLAGS.test(flag)) || values.length > 1) return false;
  if (key === "") return true;
  return ADDRESS_KEY.test(key) ? values.every((value) => ADDRESS.test(value)) : HARMLESS.test(key);
}

function isHarmlessRemote(words: readonly string[]): boolean {
  const [verb, ...operands] = words.filter((word) => !word.startsWith("-"));
  const flags = words.filter((word) => word.startsWith("-"));
  if (!flags.every((flag) => REMOTE_FLAGS.test(flag))) return false;
  if (verb === undefined) return true;
  const [, ...addresses] = operands;
  return REMOTE_VERBS.test(verb) && addresses.every((address) => ADDRESS.test(address));
}

/** The words of each command; undefined where a shell would do more than split and unquote. */
function plainCommands(line: string): readonly (readonly string[])[] | undefined {
  const commands: string[][] = [[]];
  for (let at = 0; at < line.length; ) {
    const word = matchAt(WORD, line, at);
    if (word !== undefined) commands.at(-1)?.push(word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2"));
    const end = at + (word?.length ?? 0);
    const space = matchAt(/[ \t]+/y, line, end);
    const next = matchAt(BETWEEN, line, end);
    if (next !== undefined) commands.push([]);
    if (word === undefined && next === undefined && space === undefined) return undefined;
    at = end + (next ?? space ?? "").length;
    if (word !== undefined && at === end && at < line.length) return undefined;
  }
  return commands.filter((words) => words.length > 0);
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
