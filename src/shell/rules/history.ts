import { assignmentsOf } from "./environment-variables.js";
import { isHistoryFile } from "./places.js";
import { type Condition, subject } from "./row.js";
import { placeOf } from "./segments.js";
import { writesOf } from "./writes.js";

const HISTORY = "erases or hides what was typed before";
const LOGS = "erases records of what happened on the machine";
const ERASE = "history.erase";
const OFF = "history.off";

/** `HISTFILE=/dev/null`, `HISTSIZE=0`, `HISTIGNORE='*'`. */
const hidesHistory: Condition = ({ command }) =>
  assignmentsOf(command).find(({ name, value: { text } }) => {
    if (/^(?:\w+_)?HISTFILE$/.test(name) && name !== "LESSHISTFILE")
      return text === "" || /^\/dev\/(?:null|zero)$|^\/(?:tmp|dev\/shm)\//.test(text);
    if (/^(?:HISTSIZE|HISTFILESIZE|SAVEHIST)$/.test(name)) return /^0*$/.test(text);
    return name === "HISTIGNORE" && /^['"]?\*['"]?$/.test(text);
  })?.value;

/** Any way of writing over a history file; appending to it is no loss. */
const overwritesHistory: Condition = ({ command }) =>
  writesOf(command).find(({ word, how }) => how !== "append" && how !== "touch" && isHistoryFile(word))?.word;

/** The binary records of who was logged in. */
const loginRecords: Condition = ({ command }) =>
  writesOf(command).find(({ word }) => {
    const { anchor, segments } = placeOf(word);
    return anchor === "root" && /^(?:utmp|wtmp|btmp|lastlog|utmpx)$/.test(segments.at(-1) ?? "");
  })?.word;

/** What was typed, and the logs of what happened. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("history", [
  { program: "history", taking: "d", dry: "", rule: ERASE, reason: HISTORY,
    not_match: ["history 20", "history -a"], rows: [
    { options: "c d w", match: ["history -c"], not_match: ["history"] },
    { path: "clear|delete|clear-session", match: ["fish -c 'history clear'"] },
  ] },
  // `fc -p /dev/null` starts another list, `fc -W` and `-P` move lists between files.
  { program: "fc", dry: "", word: /^-[a-z]*p$|^-[WP]$/, rule: OFF, reason: HISTORY,
    match: ["fc -p /dev/null"], not_match: ["fc -l"] },
  { program: "unset", dry: "", word: /^(?:HISTFILE|HISTSIZE|HISTFILESIZE|SAVEHIST|HISTCMD)$/, rule: OFF,
    reason: HISTORY, match: ["unset HISTFILE"], not_match: ["unset FOO"] },
  { program: "set", dry: "", when: ({ args }) =>
      args.find(({ text }, index) => text === "history" && /^\+[a-z]*o$/.test(args[index - 1]?.text ?? "")),
    rule: OFF, reason: HISTORY, match: ["set +o history"], not_match: ["set +e"] },
  { program: "*", when: hidesHistory, rule: OFF, reason: HISTORY, match: ["HISTSIZE=0"] },
  { program: "*", when: overwritesHistory, rule: ERASE, reason: HISTORY,
    match: ["sed -i '/secret/d' ~/.bash_history"] },
  { program: "*", when: loginRecords, rule: "history.logs", reason: LOGS,
    match: ["utmpdump -r < x > /var/log/wtmp"] },
  { program: "journalctl", word: /^--(?:vacuum-\w+|rotate|relinquish-var)/, rule: "history.logs",
    reason: LOGS, match: ["journalctl --rotate"], not_match: ["journalctl -k"] },
  { program: "logrotate", word: /^(?:-[a-zA-Z]*f[a-zA-Z]*|--force)$/, rule: "history.logs", reason: LOGS,
    match: ["logrotate -f /etc/logrotate.conf"], not_match: ["logrotate --debug x.conf"] },
  { program: "auditctl", dry: "", when: ({ args }) =>
      args.find(
        ({ text }, index) =>
          /^-[DdW]$/.test(text) || (args[index - 1]?.text === "-e" && text === "0") || text === "-e0",
      ),
    rule: "history.logs", reason: "switches off the watching of the machine", match: ["auditctl -D"],
    not_match: ["auditctl -l"] },
  { program: "dmesg", word: /^(?:-[a-zA-Z]*[cCD][a-zA-Z]*|--clear|--read-clear|--console-off)$/,
    rule: "history.logs", reason: LOGS, match: ["dmesg -C"], not_match: ["dmesg"] },
  { program: "lastlog", word: /^(?:-C|--clear|-S|--set)$/, rule: "history.logs", reason: LOGS,
    match: ["lastlog --clear"], not_match: ["lastlog -u bob"] },
  { program: "faillog", word: /^(?:-r|--reset)$/, rule: "history.logs", reason: LOGS, match: ["faillog -r"] },
  { program: "utmpdump", word: /^(?:-r|--reverse)$/, rule: "history.logs", reason: LOGS,
    match: ["utmpdump -r < x > /var/log/wtmp"] },
  { program: "log", path: "erase", rule: "history.logs", reason: LOGS, match: ["log erase --all"] },
]);
