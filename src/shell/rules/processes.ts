import type { ShellWord } from "../types.js";
import { type Condition, names, subject } from "./row.js";

const POWER = "stops or restarts the machine";
const SLEEP = "puts the machine to sleep";
const FORCED = "kills processes by name and leaves them no time to save";
const FOUND = "kills every process a search finds";
const RUNTIME = "stops the runtime that guards this agent";
const KILL_SIGNAL = /^(?:9|(?:sig)?kill)$/i;

interface Kill {
  readonly signal: string;
  readonly targets: readonly ShellWord[];
}

/** What `kill` was told, options and negative numbers told apart as `kill` does; undefined when it only lists. */
function readKill(args: readonly ShellWord[]): Kill | undefined {
  let signal = "";
  const targets: ShellWord[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] as ShellWord;
    const { text } = word;
    if (text === "--") return { signal, targets: [...targets, ...args.slice(index + 1)] };
    if (/^-(?:l|L)$|^--(?:list|table|help|version)/.test(text)) return undefined;
    if (/^(?:-s|-n|--signal|-q|--queue)$/.test(text)) {
      if (text !== "-q" && text !== "--queue") signal = args[index + 1]?.text ?? "";
      index++;
    } else if (text.startsWith("--signal=")) signal = text.slice("--signal=".length);
    else if (/^-s\w/.test(text) && !/^-sig/i.test(text)) signal = text.slice(2);
    else if (signal === "" && targets.length === 0 && /^-(?:\d+|[a-zA-Z]+\d?)$/.test(text))
      signal = text.slice(1);
    else targets.push(word);
  }
  return { signal, targets };
}

const killing =
  (find: (kill: Kill, repeated: boolean) => ReturnType<Condition>): Condition =>
  ({ command: { args, repeated } }) => {
    const kill = readKill(args);
    return kill === undefined || kill.signal === "0" ? undefined : find(kill, repeated);
  };

const FINDERS = names(
  "pgrep pidof lsof ps fuser ss netstat top pidstat pstree awk grep jps xargs cut head tail docker",
);

/** A process number from a search; those of one's own jobs or of a pid file are known well enough. */
function isFound({ outputs = [] }: ShellWord, repeated: boolean): boolean {
  if (outputs.length > 0 && outputs.every(({ program }) => program === "jobs")) return false;
  return repeated || outputs.some(({ program }) => FINDERS.has(program));
}

/** A signal after which a program can still put its things in order. */
const isPolite = ({ signal }: Kill): boolean => /^(?:|15|2|1|(?:sig)?(?:term|int|hup))$/i.test(signal);

/** `$(lsof -ti :3000)`: what listens on a port that development servers use, and nothing else does by custom. */
function listensOnDevelopmentPort({ outputs = [] }: ShellWord): boolean {
  return (
    outputs.length === 1 &&
    outputs.every(
      ({ program, args }) =>
        program === "lsof" &&
        args.some(({ text }) => /^(?:-[a-zA-Z]*i)?(?:tcp)?:(?:300\d|4200|5173|8000|8080)$/i.test(text)),
    )
  );
}

/** `-9`, `-KILL`, `-s KILL` and `--signal KILL` among the options of `pkill` and `killall`. */
const killSignal: Condition = ({ args }) =>
  args.find(({ text }, index) => {
    if (/^(?:-s|--signal)$/.test(args[index - 1]?.text ?? "")) return KILL_SIGNAL.test(text);
    if (text.startsWith("--signal=")) return KILL_SIGNAL.test(text.slice(9));
    return text.startsWith("-") && KILL_SIGNAL.test(text.slice(1));
  });

const OWN = /^(?:hermes(?:[-_].*)?|.*\bhermes(?:[-_ ](?:agent|tools|gateway|server))?)$/i;
const own: Condition = ({ operands }) => operands.find(({ text }) => OWN.test(text));

/** Everything but cancelling a shutdown, or asking about one. */
const goesDown: Condition = ({ args }) => {
  const [word] = args;
  if (args.length === 1 && /^(?:[-/]a|\/\?|--show|-\?)$/i.test(word?.text ?? "")) return undefined;
  const cancels =
    args.some(({ text }) => text === "-c") && !args.some(({ text }) => /^-[a-zA-Z]*[hrPH]/.test(text));
  return cancels ? undefined : { word };
};

/** Messages to the login manager that do what `poweroff` does. */
const busMessage =
  (pattern: RegExp): Condition =>
  (call) =>
    call.find(/login1|ConsoleKit|systemd1|PowerManagement/) === undefined ? undefined : call.find(pattern);

/** Ending processes, and the machine with them. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("processes", [
  { program: "kill|gkill", dry: "", not_match: ["kill -L", "kill 1234"], rows: [
    { when: killing(
          ({ signal, targets }) =>
            targets.find(({ text }) => text === "-1") ??
            (signal === "1" && targets.length === 0 ? {} : undefined),
        ),
      level: "hardline", rule: "process.kill-all", reason: "kills every process of the user or the machine",
      match: ["kill -1"], not_match: ["kill -l"] },
    { when: killing(({ targets }) => targets.find(({ text }) => text === "1")), rule: "process.kill-init",
      reason: "signals the first process, which all others hang on", match: ["kill 1"],
      not_match: ["kill %1"] },
    { when: killing((kill, repeated) =>
          isPolite(kill) && !repeated && kill.targets.every(listensOnDevelopmentPort)
            ? undefined
            : kill.targets.find((word) => !word.known && isFound(word, repeated)),
        ),
      rule: "process.kill-found", reason: FOUND, match: ["kill $(ps aux)"], not_match: ["kill $!"] },
  ] },
  { program: "pkill|skill", taking: "s signal P parent F pidfile u t g", dry: "", unless: /^-[0V]$/,
    not_match: ['pkill -f "vite dev"', "pkill --oldest node"], rows: [
    { when: killSignal, rule: "process.kill-force", reason: FORCED, match: ["pkill -9 node"],
      not_match: ["pkill node"] },
    { when: (call) =>
        call.args.find(
          ({ text }) =>
            /^(?:-[uUtGgv]|--(?:euid|uid|terminal|group|inverse|pgroup|session).*)$/.test(text) ||
            (/^-[uU]\w/.test(text) && !/^-(?:USR[12]|URG)$/i.test(text)),
        ),
      rule: "process.kill-wide", reason: "kills every process of a user, group or terminal",
      match: ["pkill -U 1000"], not_match: ["pkill -0 node"] },
    { when: ({ operands }) => operands.find(({ text }) => /^[.*^$]*$/.test(text)), rule: "process.kill-wide",
      reason: "kills every process whatever its name", match: ["pkill ."], not_match: ["pkill -HUP nginx"] },
    { when: own, rule: "agent.self", reason: RUNTIME, match: ["pkill hermes"],
      not_match: ["pkill -USR1 nginx"] },
  ] },
  { program: "killall", taking: "s signal", dry: "", unless: /^(?:-l|--list|-V|-0)$/,
    not_match: ["killall -0 node", "killall --version"], rows: [
    { when: killSignal, rule: "process.kill-force", reason: FORCED, match: ["killall -9 node"],
      not_match: ["killall -l"] },
    { word: /^-[eIgiqwvsZmnoy]*[ru]|^--(?:regexp|user)|^-m$/, rule: "process.kill-wide",
      reason: "kills every process a pattern or a user matches", match: ["killall -u alice"],
      not_match: ["killall node"] },
    { when: own, rule: "agent.self", reason: RUNTIME, match: ["killall hermes"],
      not_match: ["killall -v node"] },
  ] },
  { program: "killall5|slay|xkill", rule: "process.kill-wide", reason: "kills many processes at once",
    match: ["xkill"] },
  { program: "fuser", taking: "n namespace", options: "k kill", rule: "process.kill-found",
    reason: "kills every process that uses a file or port", match: ["fuser -km /mnt"],
    not_match: ["fuser 3000/tcp"] },
  { program: "kill-port", word: /./, rule: "rare.use", reason: "kills whatever uses a port",
    match: ["kill-port x"] },
  { program: "fkill", word: /^(?:-f|--force|-s|--silent)$/, rule: "rare.option",
    reason: "kills processes and leaves them no time to save", match: ["fkill -f"] },
  { program: "ipcrm", word: /./, rule: "rare.use", reason: "deletes data or a thing others rely on",
    match: ["ipcrm x"] },
  { program: "shutdown", dry: "", not_match: ["shutdown --help", "shutdown --version"], rows: [
    { word: /^-k$/, when: goesDown, rule: "power.announce",
      reason: "tells every user that the machine goes down", match: ["shutdown -k now"],
      not_match: ["shutdown /?"] },
    { when: goesDown, level: "hardline", rule: "power.shutdown", reason: POWER, match: ["shutdown"],
      not_match: ["shutdown -c"] },
  ] },
  { program: "reboot|halt|poweroff|openrc-shutdown|fasthalt|fastboot", dry: "", not_match: ["reboot --help"],
    rows: [
    { word: /^(?:-w|--wtmp-only)$/, rule: "power.record",
      reason: "writes a shutdown into the records of the machine", match: ["reboot -w"],
      not_match: ["reboot --help"] },
    { level: "hardline", rule: "power.shutdown", reason: POWER, match: ["halt"] },
  ] },
  { program: "init|telinit|runit-init", taking: "t e", dry: "", rule: "power.runlevel",
    not_match: ["init --help"], rows: [
    { path: "0|6", level: "hardline", reason: POWER, match: ["init 0"] },
    { path: "*",
      when: ({ operands: [level] }) => /^[1-5sSabc]$/.test(level?.text ?? "") || level?.known === false,
      reason: "ends what runs and changes the state of the machine", match: ["init 1"], not_match: ["init q"] },
  ] },
  { program: "dbus-send|busctl|gdbus|qdbus", dry: "", rows: [
    { when: busMessage(/(?:^|\.)(?:PowerOff|Reboot|Halt|ScheduleShutdown)(?:WithFlags)?$/),
      level: "hardline", rule: "power.message", reason: POWER, match: [
          "busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager Reboot b true",
        ],
      not_match: ["busctl list"] },
    { when: busMessage(/(?:^|\.)(?:Suspend|Hibernate)(?:WithFlags)?$/), rule: "power.sleep", reason: SLEEP,
      match: ["busctl call org.freedesktop.login1 /x org.freedesktop.login1.Manager Suspend b 1"],
      not_match: ["busctl list"] },
  ] },
  { program: "pm-suspend|pm-hibernate", rule: "power.sleep", reason: SLEEP, match: ["pm-suspend"] },
  { program: "rtcwake", word: /^(?:off|mem|disk|standby|freeze)$/, rule: "power.sleep",
    reason: "puts the machine to sleep or stops it", match: ["rtcwake -m mem -s 5"] },
  { program: "ipmitool",
    when: (call) => call.find(/^power$/) !== undefined && call.find(/^(?:off|cycle|reset|soft)$/),
    rule: "power.remote", reason: "stops or restarts another machine",
    match: ["ipmitool -H x chassis power off"] },
  { program: "osascript", dry: "", word: /\b(?:shut ?down|restart|log ?out|sleep)\b|do shell script/i,
    when: () => ({}), rule: "power.message", reason: POWER,
    match: ["osascript -e 'tell app \"System Events\" to shut down'"],
    not_match: ["osascript -e 'display notification \"done\"'"] },
  { program: "gnome-session-quit", word: /^--(?:power-off|reboot)/, rule: "power.message", reason: POWER,
    match: ["gnome-session-quit --power-off"] },
]);
