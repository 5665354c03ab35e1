import { parseOptions } from "../read/options.js";
import type { Rule, RuleSet } from "../types.js";
import { DELETIONS } from "./deletion.js";
import {
  isCredentialStore,
  isHomeLike,
  isSomeonesHome,
  isSystemLog,
  isSystemPath,
  isVital,
} from "./places.js";
import { placeOf } from "./segments.js";
import { emptiedByRedirect, overwritesLog, replacedByNothing, truncate } from "./truncation.js";
import { danger, explainsAnywhere, forPrograms, onlyExplains, operandsOf, verbRule } from "./words.js";
import { writesOf } from "./writes.js";

/** Moving a thing away takes it from its place; moving it to `/dev/null` takes it from the world. */
const moves: Rule = (command) => {
  if (onlyExplains(command.args)) return undefined;
  for (const { word } of writesOf(command)) {
    const { anchor, segments } = placeOf(word);
    if (anchor === "root" && segments[0] === "dev" && segments[1] === "null")
      return danger("delete.void", "moves files where nothing comes back from", word);
  }
  const { values, operands } = parseOptions(command.args, {
    taking: ["t", "S", "target-directory", "suffix"],
  });
  const toFolder = values.has("t") || values.has("target-directory");
  const sources = toFolder ? operands : operands.slice(0, -1);
  const taken = sources.find(
    (word) =>
      isVital(word) ||
      isHomeLike(word) ||
      isSomeonesHome(word) ||
      isSystemPath(word) ||
      isSystemLog(word) ||
      isCredentialStore(word),
  );
  return taken === undefined
    ? undefined
    : danger("move.system", "moves a home, keys or a part of the operating system away", taken);
};

const mirrors: Rule = ({ args }) => {
  const { flags } = parseOptions(args, { taking: ["e", "f", "T", "B", "M"] });
  if (flags.has("n") || flags.has("dry-run") || explainsAnywhere(args)) return undefined;
  const deletes = [...flags].find((flag) => /^(?:del$|delete|remove-s)/.test(flag));
  return deletes === undefined
    ? undefined
    : danger(
        "delete.mirror",
        "deletes files on one side of a copy",
        args.find(({ text }) => text.startsWith(`--${deletes}`)),
      );
};

const tar: Rule = ({ args }) => {
  const removing = args.find(({ text }) => text === "--remove-files");
  if (removing !== undefined)
    return danger("delete.archived", "deletes the files it has put into the archive", removing);
  const program = args.find(({ text }) =>
    /^--(?:to-command|checkpoint-action=exec|rmt-command|use-compress-program=.*\s)/.test(text),
  );
  return program === undefined
    ? undefined
    : danger("run.hidden", "runs a program named in an option", program);
};

const zip: Rule = ({ args }) => {
  const { flags } = parseOptions(args, { taking: ["b", "t", "n"] });
  return flags.has("m") || flags.has("move")
    ? danger("delete.archived", "deletes the files it has put into the archive")
    : undefined;
};

const sevenZip: Rule = ({ args }) => {
  const removing = args.find(({ text }) => text === "-sdel");
  return removing === undefined
    ? undefined
    : danger("delete.archived", "deletes the files it has put into the archive", removing);
};

/** Copies of the work that are there for the day something goes wrong. */
const backups: Rule = ({ args }) => {
  if (explainsAnywhere(args) || args.some(({ text }) => text === "--dry-run" || text === "-n"))
    return undefined;
  const verb = operandsOf(args, "-r --repo --repository -p --password-file -o").find(({ text }) =>
    /^(?:delete|prune|forget|purge|unlink|remove-\w[\w-]*|rm|wipe)$/.test(text),
  );
  return verb === undefined ? undefined : danger("delete.backup", "deletes backups", verb);
};

const SED_RUNS = /(?:^|[;{}\n])[ \t]*(?:\d+|\$)?[ \t]*e(?:[ \t]+\S|$)/;
/** The `e` among the flags of `s/…/…/`. */
const SED_RUNS_MATCH = /[/|#,@][gpIiMm\d]*e[gpIiMm\d]*(?:$|[;}\n])/;

const sed: Rule = ({ args }) => {
  const emptied =
    args.some(({ text }) => /^(?:d|1,\$d)$/.test(text)) &&
    args.some(({ text }) => /^-[nE]*i|^--in-place/.test(text));
  if (emptied) return danger("truncate.file", "empties a file, its content is gone");
  const script = operandsOf(args, "-e -f --expression --file")[0];
  const inline = args.filter((_, index) =>
    /^(?:-[nErsuz]*e|--expression)$/.test(args[index - 1]?.text ?? ""),
  );
  for (const word of [...inline, ...(script === undefined || inline.length > 0 ? [] : [script])]) {
    if (
      SED_RUNS.test(word.text) ||
      (SED_RUNS_MATCH.test(word.text) && /(?:^|[;{}\s\d$])s[/|#,@]/.test(word.text))
    )
      return danger("run.hidden", "runs shell commands from an editing script", word);
  }
  return undefined;
};

export const RULES: RuleSet = {
  family: "files",
  programs: {
    ...DELETIONS,
    ...forPrograms("mv gmv", moves),
    ...forPrograms("truncate gtruncate", truncate),
    ...forPrograms("rsync openrsync", mirrors),
    ...forPrograms("tar gtar bsdtar", tar),
    ...forPrograms("7z 7za 7zz", sevenZip),
    ...forPrograms("restic borg borgmatic duplicity rdiff-backup kopia", backups),
    ...forPrograms("sed gsed", sed),
    zip,
    gio: ({ args }) => {
      const emptied = args.find(({ text }) => text === "--empty");
      return emptied === undefined
        ? undefined
        : danger("delete.found", "deletes everything in the trash", emptied);
    },
    lftp: ({ args }) =>
      args.some(({ text }) => /\bmirror\b.*--delete\b|(?:^|[;\s])(?:rm|mrm|glob rm)\s/.test(text))
        ? danger("delete.mirror", "deletes files on another machine")
        : undefined,
    fallocate: ({ args }) => {
      const { flags } = parseOptions(args, { taking: ["l", "o", "length", "offset"] });
      return ["p", "punch-hole", "c", "collapse-range", "z", "zero-range"].some((name) => flags.has(name))
        ? danger("truncate.file", "cuts data out of a file")
        : undefined;
    },
    snapper: verbRule({
      rule: "delete.backup",
      reason: "deletes or restores snapshots",
      verbs: "delete remove rm rollback undochange cleanup",
      taking: "-c --config",
    }),
    timeshift: ({ args }) =>
      args.some(({ text }) => /^--(?:delete|delete-all|restore)$/.test(text))
        ? danger("delete.backup", "deletes or restores snapshots")
        : undefined,
    tmutil: verbRule({
      rule: "delete.backup",
      reason: "deletes backups or switches them off",
      verbs:
        "delete deletelocalsnapshots deleteinprogress disable disablelocal thinlocalsnapshots removedestination",
    }),
  },
  any: [emptiedByRedirect, overwritesLog, replacedByNothing],
};
