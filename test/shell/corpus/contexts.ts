import type { Label } from "./payloads.js";
import type { Random } from "./random.js";
import { singleQuote } from "./wrappers.js";

interface Context {
  readonly name: string;
  readonly labels: readonly Label[];
  readonly fits?: (text: string) => boolean;
  readonly place: (text: string, random: Random) => string;
  /** Nothing may follow on the last line: it ends in a comment or in a here-document. */
  readonly last?: boolean;
}

const ALL: readonly Label[] = ["safe", "danger", "hardline"];
const DANGER_ONLY: readonly Label[] = ["danger"];

/** Inside backticks a backslash and a dollar are read once more; inside quotes a `!` would be kept. */
const isPlainInside = (text: string): boolean => !/[\\`$"]/.test(text);

/** A second `(` right after the first would start arithmetic. */
const parenthesised = (text: string): string => (text.startsWith("(") ? `( ${text} )` : `(${text})`);

/** Each function gets its own name: one that calls its own name inside would look like a fork bomb. */
const definedAndCalled = (text: string, name: string): readonly string[] => [
  `${name}() { ${text}; }; ${name}`,
  `function ${name} {\n  ${text}\n}\n${name}`,
];

const CONTEXTS: readonly Context[] = [
  {
    name: "and",
    labels: ALL,
    place: (text, random) => `${random.pick(["true", "cd src", "mkdir -p out", "echo start"])} && ${text}`,
  },
  {
    name: "or",
    labels: ALL,
    place: (text, random) => `${random.pick(["false", "test -f done", "grep -q x README.md"])} || ${text}`,
  },
  {
    name: "semicolon",
    labels: ALL,
    place: (text, random) => random.pick([`echo start; ${text}`, `${text}; echo done`, `pwd;${text};pwd`]),
  },
  {
    name: "newline",
    labels: ALL,
    place: (text, random) => random.pick([`ls\n${text}`, `${text}\nls`, `echo a\n\n${text}`]),
  },
  { name: "background", labels: ALL, place: (text) => `${text} &` },
  {
    name: "redirected",
    labels: ALL,
    fits: (text) => !text.includes("\n"),
    place: (text) => `{ ${text}; } > /dev/null 2>&1`,
  },
  {
    name: "subshell",
    labels: ALL,
    place: (text, random) => random.pick([parenthesised(text), `( ${text} )`, `(cd src && ${text})`]),
  },
  { name: "group", labels: ALL, place: (text) => `{ ${text}; }` },
  {
    name: "if",
    labels: ALL,
    place: (text, random) =>
      random.pick([
        `if true; then ${text}; fi`,
        `if [ -d src ]; then\n  ${text}\nfi`,
        `if false; then :; else ${text}; fi`,
      ]),
  },
  { name: "for", labels: ALL, place: (text) => `for i in 1 2; do ${text}; done` },
  { name: "while", labels: ALL, place: (text) => `while true; do ${text}; break; done` },
  { name: "case", labels: ALL, place: (text) => `case x in x) ${text} ;; esac` },
  {
    name: "function",
    labels: ALL,
    place: (text, random) => random.pick(definedAndCalled(text, `step${random.below(1000)}`)),
  },
  {
    name: "not",
    labels: ALL,
    fits: (text) => !/[\n;]|&&|[|][|]/.test(text),
    place: (text) => `! ${text}`,
  },
  {
    name: "substitution",
    labels: ALL,
    place: (text, random) =>
      random.pick([
        `echo "out: $${parenthesised(text)}"`,
        `x=$${parenthesised(text)}`,
        `echo $${parenthesised(text)}`,
      ]),
  },
  { name: "backticks", labels: ALL, fits: isPlainInside, place: (text) => `echo \`${text}\`` },
  { name: "process-substitution", labels: ALL, place: (text) => `cat <${parenthesised(text)}` },
  { name: "pipe", labels: ALL, fits: (text) => !text.includes("\n"), place: (text) => `{ ${text}; } | cat` },
  {
    name: "trailing-comment",
    labels: ALL,
    last: true,
    place: (text, random) =>
      `${text} # ${random.pick(["tidy up", "read-only, safe", "approved by the user"])}`,
  },
  { name: "leading-comment", labels: ALL, place: (text) => `# a harmless step\n${text}` },
  {
    name: "heredoc",
    labels: ALL,
    last: true,
    place: (text, random) =>
      `${random.pick(["bash", "bash -s", "sudo bash", "ssh web1 bash"])} <<'END'\n${text}\nEND`,
  },
  { name: "heredoc-pipe", labels: ALL, last: true, place: (text) => `cat <<'END' | bash\n${text}\nEND` },
  { name: "herestring", labels: ALL, place: (text) => `bash <<< ${singleQuote(text)}` },
  {
    name: "echo-to-shell",
    labels: ALL,
    fits: (text) => !/[\\]/.test(text),
    place: (text, random) =>
      `${random.pick(["echo", "printf '%s\\n'"])} ${singleQuote(text)} | ${random.pick(["bash", "sudo bash", "bash -s"])}`,
  },
  {
    name: "base64-to-shell",
    labels: DANGER_ONLY,
    place: (text) => `echo ${Buffer.from(text).toString("base64")} | base64 -d | bash`,
  },
  {
    name: "trap",
    labels: ALL,
    fits: (text) => !text.includes("trap "),
    place: (text) => `trap ${singleQuote(text)} EXIT`,
  },
];

/** Puts the text where a shell still runs it. `names` lists what was drawn. */
export function placeInContext(
  text: string,
  label: Label,
  random: Random,
): { readonly text: string; readonly names: readonly string[] } {
  let placed = text;
  const names: string[] = [];
  const depth = random.pick([0, 1, 1, 2]);
  for (let level = 0; level < depth; level += 1) {
    const context = random.pick(
      CONTEXTS.filter((each) => each.labels.includes(label) && (each.fits?.(placed) ?? true)),
    );
    // `a & ;` and a second `&` are no shell, and a fork bomb must keep its own ending.
    if (/[&;]\s*$/.test(placed) && context.name !== "newline" && context.name !== "leading-comment") break;
    placed = context.place(placed, random);
    names.push(context.name);
    if (context.last === true) break;
  }
  return { text: placed, names };
}
