import { parseOptions } from "../read/options.js";
import type { Finding, Rule, ShellWord, SimpleCommand } from "../types.js";
import {
  couldBeRoot,
  isCredentialStore,
  isDownloadPlace,
  isGitHook,
  isHermesOwn,
  isStartupFile,
  isSystemLog,
  isSystemPath,
  isVital,
} from "./places.js";
import { isOrdinary, placeOf, takesEverything } from "./segments.js";
import {
  danger,
  forPrograms,
  hardline,
  isListedByCommand,
  names,
  onlyExplains,
  operandsOf,
} from "./words.js";

const RM_LONG =
  "recursive force interactive dir verbose one-file-system no-preserve-root preserve-root".split(" ");
/** Trees other people and programs keep their data in. */
const KEPT = names("srv opt var mnt media backup backups volumes");

const LISTERS = names("xargs parallel gxargs rush");

const rm: Rule = (command) => {
  if (onlyExplains(command.args)) return undefined;
  const { flags, operands } = parseOptions(command.args, { long: RM_LONG });
  if (flags.has("r") || flags.has("R") || flags.has("recursive")) return recursive(flags, operands);
  if (flags.has("i") && !flags.has("f")) return undefined;
  return removal(command, operands);
};

function recursive(flags: ReadonlySet<string>, targets: readonly ShellWord[]): Finding | undefined {
  const vital = targets.find(isVital);
  if (vital !== undefined)
    return hardline(
      "recursive-delete.root",
      "deletes the root, a home or a system folder with everything in it",
      vital,
    );
  if (flags.has("no-preserve-root") && targets.every((word) => couldBeRoot(word) || !word.known))
    return hardline(
      "recursive-delete.unprotected",
      "deletes with the protection of the root folder switched off",
    );
  if (targets.length > 0 && targets.every(isOwnTemporary)) return undefined;
  return danger("recursive-delete.folder", "deletes a folder with everything in it", targets[0]);
}

/** Files made by the agent itself to check its work. */
function isOwnTemporary(word: ShellWord): boolean {
  const name = placeOf(word).segments.at(-1) ?? "";
  return word.known && isDownloadPlace(word) && /^hermes-verify-[\w.-]+$/.test(name);
}

/** Deleting files one by one: harmless for a plain file, not for many nobody listed or for precious ones. */
function removal(command: SimpleCommand, targets: readonly ShellWord[]): Finding | undefined {
  const listed = command.wrappers.some(({ program }) => LISTERS.has(program));
  if (command.repeated || listed) {
    const unlisted = targets.find((word) => listed || !word.known || /[*?[]/.test(word.text));
    if (unlisted !== undefined)
      return danger("delete.listed", "deletes every file that another command lists", unlisted);
  }
  for (const word of targets) {
    if (isOrdinary(word)) continue;
    if (isListedByCommand(word))
      return danger("delete.listed", "deletes every file that another command lists", word);
    const { anchor, segments, glob } = placeOf(word);
    if (glob && takesEverything(segments.at(-1) ?? ""))
      return danger("delete.everything", "deletes every file of a folder", word);
    if (isVital(word) || isSystemPath(word) || isSystemLog(word))
      return danger("delete.system", "deletes files of the operating system", word);
    if (anchor === "root" && !isDownloadPlace(word) && (KEPT.has(segments[0] ?? "") || segments.length === 1))
      return danger("delete.root-path", "deletes files outside the project and the home", word);
    if (isCredentialStore(word)) return danger("delete.credentials", "deletes keys or tokens", word);
    if (isStartupFile(word))
      return danger("delete.startup", "deletes a file that a shell or desktop starts with", word);
    if (isGitHook(word) || isHermesOwn(word))
      return danger("delete.guard", "deletes hooks or rules that guard the work", word);
  }
  return undefined;
}

const unlink: Rule = (command) =>
  onlyExplains(command.args) ? undefined : removal(command, operandsOf(command.args));

const FIND_FILTERS =
  /^-(?:i?name|i?path|i?wholename|i?regex|[acm](?:time|min)|newer\w*|a?newer|size|empty|user|group|uid|gid|perm|inum|samefile|links|nouser|nogroup|fstype)$/;
/** Tests and actions whose next word is data, even when it looks like an action: `-name '-delete'`. */
const FIND_TAKES =
  /^-(?:i?name|i?path|i?wholename|i?lname|i?regex|regextype|[acm](?:time|min)|newer\w*|anewer|cnewer|size|user|group|uid|gid|perm|inum|samefile|links|fstype|type|xtype|maxdepth|mindepth|used|printf|fprintf?|fprint0|fls|context)$/;
const DELETERS = names("rm unlink shred srm wipe rmdir truncate rimraf trash-empty");

const find: Rule = ({ args }) => {
  const action = args.find(
    ({ text }, index) =>
      (text === "-delete" && !FIND_TAKES.test(args[index - 1]?.text ?? "")) ||
      (/^-(?:exec|execdir|ok|okdir)$/.test(text) && DELETERS.has(programName(args[index + 1]?.text ?? ""))),
  );
  if (action === undefined) return undefined;
  const start = args.findIndex(({ text }) => /^(?:-[a-zA-Z]{2,}|[(!)])/.test(text));
  const places = args.slice(0, start < 0 ? args.length : start).filter(({ text }) => !text.startsWith("-"));
  const filtered = args.some(
    ({ text }, index) => FIND_FILTERS.test(text) && !takesEverything(args[index + 1]?.text ?? ""),
  );
  const vital = filtered ? undefined : places.find(isVital);
  return vital === undefined
    ? danger("delete.found", "deletes every file a search finds", action)
    : hardline(
        "recursive-delete.search",
        "deletes everything below the root, a home or a system folder",
        vital,
      );
};

const fd: Rule = ({ args }) => {
  const at = args.findIndex(({ text }) => /^(?:-[xX]|--exec|--exec-batch)$/.test(text));
  const program = args[at + 1];
  return at >= 0 && DELETERS.has(programName(program?.text ?? ""))
    ? danger("delete.found", "deletes every file a search finds", program)
    : undefined;
};

function programName(text: string): string {
  return (text.split("/").at(-1) ?? "").toLowerCase();
}

const wholeFolder: Rule = ({ args }) => {
  if (onlyExplains(args)) return undefined;
  const operands = operandsOf(args);
  const vital = operands.find(isVital);
  if (vital !== undefined)
    return hardline(
      "recursive-delete.root",
      "deletes the root, a home or a system folder with everything in it",
      vital,
    );
  return operands.length === 0
    ? undefined
    : danger("recursive-delete.folder", "deletes a folder with everything in it", operands[0]);
};

const overwriteForever: Rule = ({ args }) =>
  onlyExplains(args) || (operandsOf(args).length === 0 && !args.some(({ text }) => text === "--autonuke"))
    ? undefined
    : danger("delete.forever", "overwrites files so that nothing can bring them back", operandsOf(args)[0]);

const rmdir: Rule = ({ args }) => {
  const system = operandsOf(args).find((word) => isVital(word) || isSystemPath(word));
  return system === undefined
    ? undefined
    : danger("delete.system", "deletes folders of the operating system", system);
};

const duplicates: Rule = ({ args }) =>
  args.some(({ text }) => /^-[a-zA-Z]*[dN]/.test(text) || /^--(?:delete|noprompt)/.test(text))
    ? danger("delete.found", "deletes every file a search finds")
    : undefined;

export const DELETIONS: Readonly<Record<string, Rule>> = {
  ...forPrograms("rm grm", rm),
  ...forPrograms("unlink gunlink", unlink),
  ...forPrograms("find gfind bfs", find),
  ...forPrograms("fd fdfind", fd),
  ...forPrograms("rimraf del-cli rmrf rm-rf deltree", wholeFolder),
  ...forPrograms("shred gshred srm wipe scrub sfill sdelete sswap secure-delete nwipe", overwriteForever),
  ...forPrograms("fdupes jdupes", duplicates),
  ...forPrograms("trash-empty bleachbit tmpreaper tmpwatch", ({ args }) =>
    onlyExplains(args) ||
    args.some(({ text }) => /^(?:--list|-l|--preview|-p|--test|-t|--dry-run)$/.test(text))
      ? undefined
      : danger("delete.found", "deletes every file a search finds"),
  ),
  rmdir,
};
