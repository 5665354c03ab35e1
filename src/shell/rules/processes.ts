import { parseOptions } from "../read/options.js";
import type { Rule, RuleSet, ShellWord } from "../types.js";
import { danger, explainsAnywhere, forPrograms, hardline, names, onlyExplains, operandsOf } from "./words.js";

const POWER = "stops or restarts the machine";
const KILL_SIGNAL = /^(?:9|(?:sig)?kill)$/i;

/** What `kill` was told: the signal and the processes, options and negative numbers told apart as `kill` does. */
function readKill(args: readonly ShellWord[]): {
  signal: string;
  targets: readonly ShellWord[];
  lists: boolean;
} {
  let signal = "";
  const targets: ShellWord[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] as ShellWord;
    const { text } = word;
    if (text === "--") return { signal, targets: [...targets, ...args.slice(index + 1)], lists: false };
    if (/^-(?:l|L)$|^--(?:list|table|help|version)/.test(text)) return { signal, targets, lists: true };
    if (/^(?:-s|-n|--signal|-q|--queue)$/.test(text)) {
      if (text !== "-q" && text !== "--queue") signal = args[index + 1]?.text ?? "";
      index++;
    } else if (text.startsWith("--signal=")) signal = text.slice("--signal=".length);
    else if (/^-s\w/.test(text) && !/^-sig/i.test(text)) signal = text.slice(2);
    else if (signal === "" && targets.length === 0 && /^-(?:\d+|[a-zA-Z]+\d?)$/.test(text))
      signal = text.slice(1);
    else targets.push(word);
  }
  return { signal, targets, lists: false };
}

const FINDERS = names(
  "pgrep pidof lsof ps fuser ss netstat top pidstat pstree awk grep jps xargs cut head tail docker",
);

/** A process number from a search; those of one's own jobs or of a pid file are known well enough. */
function isFound({ outputs = [] }: ShellWord, repeated: boolean): boolean {
  if (outputs.length > 0 && outputs.every(({ program }) => program === "jobs")) return false;
  return repeated || outputs.some(({ program }) => FINDERS.has(program));
}

const kill: Rule = (command) => {
  const { signal, targets, lists } = readKill(command.args);
  if (lists || signal === "0") return undefined;
  const everything = targets.find(({ text }) => text === "-1");
  if (everything !== undefined || (signal === "1" && targets.length === 0))
    return hardline(
      "process.kill-all",
      "kills every process of the user or the machine",
      everything ?? command.args[0],
    );
  const first = targets.find(({ text }) => text === "1");
  if (first !== undefined)
    return danger("process.kill-init", "signals the first process, which all others hang on", first);
  const found = targets.find((word) => !word.known && isFound(word, command.repeated));
  return found === undefined
    ? undefined
    : danger("process.kill-found", "kills every process a search finds", found);
};

/** Finds `-9`, `-KILL`, `-s KILL` and `--signal KILL` among the options of `pkill` and `killall`. */
function killSignal(args: readonly ShellWord[]): ShellWord | undefined {
  return args.find(({ text }, index) => {
    if (/^(?:-s|--signal)$/.test(args[index - 1]?.text ?? "")) return KILL_SIGNAL.test(text);
    if (text.startsWith("--signal=")) return KILL_SIGNAL.test(text.slice(9));
    return text.startsWith("-") && KILL_SIGNAL.test(text.slice(1));
  });
}

const OWN = /^(?:hermes(?:[-_].*)?|.*\bhermes(?:[-_ ](?:agent|tools|gateway|server))?)$/i;

const pkill: Rule = ({ args }) => {
  if (explainsAnywhere(args) || args.some(({ text }) => text === "-0" || text === "-V")) return undefined;
  const forced = killSignal(args);
  if (forced !== undefined)
    return danger("process.kill-force", "kills processes by name and leaves them no time to save", forced);
  const wide = args.find(
    ({ text }) =>
      /^(?:-[uUtGgv]|--(?:euid|uid|terminal|group|inverse|pgroup|session).*)$/.test(text) ||
      (/^-[uU]\w/.test(text) && !/^-(?:USR[12]|URG)$/i.test(text)),
  );
  if (wide !== undefined)
    return danger("process.kill-wide", "kills every process of a user, group or terminal", wide);
  const patterns = operandsOf(args, "-s --signal -P --parent -F --pidfile -u -t -g");
  const open = patterns.find(({ text }) => /^[.*^$]*$/.test(text));
  if (open !== undefined) return danger("process.kill-wide", "kills every process whatever its name", open);
  const own = patterns.find(({ text }) => OWN.test(text));
  return own === undefined
    ? undefined
    : danger("agent.self", "stops the runtime that guards this agent", own);
};

const killall: Rule = ({ args }) => {
  if (explainsAnywhere(args) || args.some(({ text }) => /^(?:-l|--list|-V|-0)$/.test(text))) return undefined;
  const forced = killSignal(args);
  if (forced !== undefined)
    return danger("process.kill-force", "kills processes by name and leaves them no time to save", forced);
  const wide = args.find(
    ({ text }) => /^-[eIgiqwvsZmnoy]*[ru]/.test(text) || /^--(?:regexp|user)/.test(text) || text === "-m",
  );
  if (wide !== undefined)
    return danger("process.kill-wide", "kills every process a pattern or a user matches", wide);
  const own = operandsOf(args, "-s --signal").find(({ text }) => OWN.test(text));
  return own === undefined
    ? undefined
    : danger("agent.self", "stops the runtime that guards this agent", own);
};

const fuser: Rule = ({ args }) => {
  const { flags } = parseOptions(args, { taking: ["n", "namespace"] });
  return flags.has("k") || flags.has("kill")
    ? danger("process.kill-found", "kills every process that uses a file or port")
    : undefined;
};

const shutdown: Rule = ({ args }) => {
  if (onlyExplains(args, "-?")) return undefined;
  const [only] = args;
  if (args.length === 1 && /^(?:[-/]a|\/\?|--show)$/i.test(only?.text ?? "")) return undefined;
  const cancels =
    args.some(({ text }) => text === "-c") && !args.some(({ text }) => /^-[a-zA-Z]*[hrPH]/.test(text));
  if (cancels) return undefined;
  return args.some(({ text }) => text === "-k")
    ? danger("power.announce", "tells every user that the machine goes down")
    : hardline("power.shutdown", POWER, only);
};

const power: Rule = ({ args }) => {
  if (onlyExplains(args)) return undefined;
  return args.some(({ text }) => text === "-w" || text === "--wtmp-only")
    ? danger("power.record", "writes a shutdown into the records of the machine")
    : hardline("power.shutdown", POWER, args[0]);
};

const init: Rule = ({ args }) => {
  const [level] = operandsOf(args, "-t -e");
  if (level === undefined) return undefined;
  if (/^[06]$/.test(level.text)) return hardline("power.runlevel", POWER, level);
  return /^[1-5sSabc]$/.test(level.text) || !level.known
    ? danger("power.runlevel", "ends what runs and changes the state of the machine", level)
    : undefined;
};

/** Messages to the login manager that do what `poweroff` does. */
const bus: Rule = ({ args }) => {
  const message = args.find(({ text }) =>
    /(?:^|\.)(?:PowerOff|Reboot|Halt|Suspend|Hibernate|ScheduleShutdown)(?:WithFlags)?$/.test(text),
  );
  if (
    message === undefined ||
    !args.some(({ text }) => /login1|ConsoleKit|systemd1|PowerManagement/.test(text))
  )
    return undefined;
  return /Suspend|Hibernate/.test(message.text)
    ? danger("power.sleep", "puts the machine to sleep", message)
    : hardline("power.message", POWER, message);
};

const always =
  (rule: string, reason: string): Rule =>
  ({ args }) =>
    explainsAnywhere(args) ? undefined : danger(rule, reason, args[0]);

export const RULES: RuleSet = {
  family: "processes",
  programs: {
    ...forPrograms("kill gkill", kill),
    ...forPrograms("pkill skill", pkill),
    killall,
    ...forPrograms("killall5 slay xkill", always("process.kill-wide", "kills many processes at once")),
    fuser,
    shutdown,
    ...forPrograms("reboot halt poweroff openrc-shutdown fasthalt fastboot", power),
    ...forPrograms("init telinit runit-init", init),
    ...forPrograms("dbus-send busctl gdbus qdbus", bus),
    ...forPrograms("pm-suspend pm-hibernate", always("power.sleep", "puts the machine to sleep")),
    rtcwake: ({ args }) =>
      args.some(({ text }) => /^(?:off|mem|disk|standby|freeze)$/.test(text))
        ? danger("power.sleep", "puts the machine to sleep or stops it")
        : undefined,
    ipmitool: ({ args }) =>
      args.some(({ text }) => text === "power") &&
      args.some(({ text }) => /^(?:off|cycle|reset|soft)$/.test(text))
        ? danger("power.remote", "stops or restarts another machine")
        : undefined,
    osascript: ({ args }) =>
      args.some(({ text }) => /\b(?:shut ?down|restart|log ?out|sleep)\b|do shell script/i.test(text))
        ? danger("power.message", "stops or restarts the machine")
        : undefined,
    "gnome-session-quit": ({ args }) =>
      args.some(({ text }) => /^--(?:power-off|reboot)/.test(text))
        ? danger("power.message", POWER)
        : undefined,
  },
};
