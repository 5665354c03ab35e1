import { parseOptions } from "../read/options.js";
import type { Rule, RuleSet } from "../types.js";
import { isHistoryFile } from "./places.js";
import { assignmentsOf } from "./poison.js";
import { placeOf } from "./segments.js";
import { danger, explainsAnywhere, forPrograms, names, operandsOf } from "./words.js";
import { writesOf } from "./writes.js";

const HISTORY = "erases or hides what was typed before";
const LOGS = "erases records of what happened on the machine";
const KEEPERS = names("HISTFILE HISTSIZE HISTFILESIZE SAVEHIST HISTCMD");

const historyBuiltin: Rule = ({ args }) => {
  const { flags, operands } = parseOptions(args, { taking: ["d"] });
  if (["c", "d", "w"].some((flag) => flags.has(flag))) return danger("history.erase", HISTORY, args[0]);
  const verb = operands[0];
  return verb !== undefined && /^(?:clear|delete|clear-session)$/.test(verb.text)
    ? danger("history.erase", HISTORY, verb)
    : undefined;
};

/** `fc -p /dev/null` starts another list, `fc -R`, `-W` and `-A` move lists between files. */
const fc: Rule = ({ args }) => {
  const option = args.find(({ text }) => /^-[a-z]*p$|^-[WP]$/.test(text));
  return option === undefined ? undefined : danger("history.off", HISTORY, option);
};

const unset: Rule = ({ args }) => {
  const keeper = args.find(({ text }) => KEEPERS.has(text));
  return keeper === undefined ? undefined : danger("history.off", HISTORY, keeper);
};

const setBuiltin: Rule = ({ args }) => {
  const off = args.find(
    ({ text }, index) => text === "history" && /^\+[a-z]*o$/.test(args[index - 1]?.text ?? ""),
  );
  return off === undefined ? undefined : danger("history.off", HISTORY, off);
};

/** `HISTFILE=/dev/null`, `HISTSIZE=0`, `HISTIGNORE='*'`. */
const hidesHistory: Rule = (command) => {
  for (const { name, value } of assignmentsOf(command)) {
    const { text } = value;
    const lost = text === "" || /^\/dev\/(?:null|zero)$/.test(text);
    if (
      /^(?:\w+_)?HISTFILE$/.test(name) &&
      name !== "LESSHISTFILE" &&
      (lost || /^\/(?:tmp|dev\/shm)\//.test(text))
    )
      return danger("history.off", HISTORY, value);
    if (/^(?:HISTSIZE|HISTFILESIZE|SAVEHIST)$/.test(name) && /^0*$/.test(text))
      return danger("history.off", HISTORY, value);
    if (name === "HISTIGNORE" && /^['"]?\*['"]?$/.test(text)) return danger("history.off", HISTORY, value);
  }
  return undefined;
};

/** Any way of writing over a history file; appending to it is no loss. */
const overwritesHistory: Rule = (command) => {
  const write = writesOf(command).find(
    ({ word, how }) => how !== "append" && how !== "touch" && isHistoryFile(word),
  );
  return write === undefined ? undefined : danger("history.erase", HISTORY, write.word);
};

const removesHistory: Rule = ({ program, args }) => {
  const operands = operandsOf(args);
  const taken = (program === "mv" ? operands.slice(0, -1) : operands).find(isHistoryFile);
  return taken === undefined ? undefined : danger("history.erase", HISTORY, taken);
};

const withOption =
  (options: RegExp, reason = LOGS): Rule =>
  ({ args }) => {
    const option = args.find(({ text }) => options.test(text));
    return option === undefined || explainsAnywhere(args)
      ? undefined
      : danger("history.logs", reason, option);
  };

const auditctl: Rule = ({ args }) => {
  const off = args.find(
    ({ text }, index) =>
      /^-[DdW]$/.test(text) || (args[index - 1]?.text === "-e" && text === "0") || text === "-e0",
  );
  return off === undefined
    ? undefined
    : danger("history.logs", "switches off the watching of the machine", off);
};

/** The binary records of who was logged in. */
const loginRecords: Rule = (command) => {
  const write = writesOf(command).find(({ word }) => {
    const { anchor, segments } = placeOf(word);
    return anchor === "root" && /^(?:utmp|wtmp|btmp|lastlog|utmpx)$/.test(segments.at(-1) ?? "");
  });
  return write === undefined ? undefined : danger("history.logs", LOGS, write.word);
};

export const RULES: RuleSet = {
  family: "history",
  programs: {
    history: historyBuiltin,
    fc,
    unset,
    set: setBuiltin,
    ...forPrograms("rm unlink shred srm wipe mv truncate", removesHistory),
    journalctl: withOption(/^--(?:vacuum-\w+|rotate|relinquish-var)/),
    logrotate: withOption(/^(?:-[a-zA-Z]*f[a-zA-Z]*|--force)$/),
    auditctl,
    dmesg: withOption(/^(?:-[a-zA-Z]*[cCD][a-zA-Z]*|--clear|--read-clear|--console-off)$/),
    lastlog: withOption(/^(?:-C|--clear|-S|--set)$/),
    faillog: withOption(/^(?:-r|--reset)$/),
    utmpdump: withOption(/^(?:-r|--reverse)$/),
    log: ({ args }) => (args[0]?.text === "erase" ? danger("history.logs", LOGS, args[0]) : undefined),
  },
  any: [hidesHistory, overwritesHistory, loginRecords],
};
