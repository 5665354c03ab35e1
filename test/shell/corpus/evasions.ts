import type { Label } from "./payloads.js";
import type { Random } from "./random.js";

/** A disguised command: `setup` are commands that must run in the same shell before it. */
export interface Disguised {
  readonly name: string;
  readonly setup?: string;
  readonly command: string;
  /** Needs bash: `sh -c` may be another shell that reads it differently. */
  readonly bashOnly?: boolean;
  /** More than one program: nothing but a shell can start it. */
  readonly pipeline?: boolean;
  /** Would not run as typed; such a row is not asked to be valid shell. */
  readonly lookalike?: boolean;
}

interface Evasion {
  readonly name: string;
  /** Labels for which the disguise leaves the label beyond dispute. */
  readonly labels: readonly Label[];
  readonly apply: (words: readonly string[], random: Random) => Omit<Disguised, "name"> | undefined;
}

const ALL: readonly Label[] = ["safe", "danger", "hardline"];
const UNSAFE: readonly Label[] = ["danger", "hardline"];
const DANGER_ONLY: readonly Label[] = ["danger"];

/** Characters that mean themselves in every position, so quoting them changes nothing. */
const isPlain = (word: string): boolean => /^[\w./:=+@-]+$/.test(word);
/** Unquoted results of an expansion are not searched for `~` again. */
const survivesExpansion = (word: string): boolean => isPlain(word) || word === "/*";

function split(words: readonly string[]): { program: string; rest: string } {
  const [program = "", ...rest] = words;
  return { program, rest: rest.join(" ") };
}

const DIRECTORY: Readonly<Record<string, string>> = {
  shutdown: "/sbin",
  reboot: "/sbin",
  poweroff: "/sbin",
  halt: "/sbin",
  init: "/sbin",
  "mkfs.ext4": "/sbin",
  mkfs: "/sbin",
  wipefs: "/sbin",
  blkdiscard: "/sbin",
  iptables: "/usr/sbin",
  useradd: "/usr/sbin",
  userdel: "/usr/sbin",
  sysctl: "/sbin",
  rm: "/bin",
  kill: "/bin",
  chmod: "/bin",
  ls: "/bin",
  cat: "/bin",
};

function quoteSomewhere(word: string, random: Random): string {
  const at = 1 + random.below(Math.max(1, word.length - 1));
  const [head, tail] = [word.slice(0, at), word.slice(at)];
  return random.pick([
    `${head}''${tail}`,
    `${head}""${tail}`,
    `'${head}'${tail}`,
    `"${head}"${tail}`,
    `'${word}'`,
    `"${word}"`,
  ]);
}

function hexEscape(word: string): string {
  return `$'${[...word].map((letter) => `\\x${letter.charCodeAt(0).toString(16).padStart(2, "0")}`).join("")}'`;
}

function fullWidth(word: string): string {
  return word.replace(/[a-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
}

const EVASIONS: readonly Evasion[] = [
  {
    name: "quotes",
    labels: ALL,
    apply: (words, random) => ({
      command: words
        .map((word, i) =>
          isPlain(word) && (i === 0 || random.chance(0.5)) ? quoteSomewhere(word, random) : word,
        )
        .join(" "),
    }),
  },
  {
    name: "backslash",
    labels: ALL,
    apply: ([program = "", ...rest], random) => {
      const at = random.below(program.length);
      return isPlain(program)
        ? { command: [`${program.slice(0, at)}\\${program.slice(at)}`, ...rest].join(" ") }
        : undefined;
    },
  },
  {
    name: "hex",
    labels: UNSAFE,
    apply: ([program = "", ...rest]) => ({
      command: [hexEscape(program), ...rest].join(" "),
      bashOnly: true,
    }),
  },
  {
    name: "octal",
    labels: UNSAFE,
    apply: ([program = "", ...rest]) => ({
      command: [`$'\\${program.charCodeAt(0).toString(8)}${program.slice(1)}'`, ...rest].join(" "),
      bashOnly: true,
    }),
  },
  {
    name: "ifs",
    labels: UNSAFE,
    apply: (words, random) =>
      words.every(survivesExpansion)
        ? { command: words.join(random.pick([`\${IFS}`, '$IFS""'])) }
        : undefined,
  },
  { name: "continuation", labels: ALL, apply: (words) => ({ command: words.join(" \\\n  ") }) },
  {
    name: "continuation-in-word",
    labels: UNSAFE,
    apply: ([program = "", ...rest]) => ({
      command: [`${program.slice(0, 1)}\\\n${program.slice(1)}`, ...rest].join(" "),
    }),
  },
  {
    name: "braces",
    labels: UNSAFE,
    apply: (words) =>
      words.length > 1 && words.every((word) => isPlain(word) || word === "~")
        ? { command: `{${words.join(",")}}`, bashOnly: true }
        : undefined,
  },
  {
    name: "absolute-path",
    labels: ALL,
    apply: ([program = "", ...rest]) => ({
      command: [`${DIRECTORY[program] ?? "/usr/bin"}/${program}`, ...rest].join(" "),
    }),
  },
  { name: "tabs", labels: ALL, apply: (words) => ({ command: words.join("\t") }) },
  {
    name: "variable-program",
    labels: ALL,
    apply: (words, random) => {
      const { program, rest } = split(words);
      return { setup: `C=${program}`, command: `${random.pick(["$C", `\${C}`, '"$C"'])} ${rest}`.trimEnd() };
    },
  },
  {
    name: "variable-halves",
    labels: UNSAFE,
    apply: (words) => {
      const { program, rest } = split(words);
      return { setup: `a=${program.slice(0, 1)} b=${program.slice(1)}`, command: `$a$b ${rest}`.trimEnd() };
    },
  },
  {
    name: "variable-operand",
    labels: UNSAFE,
    apply: (words) => {
      const last = words.at(-1) ?? "";
      return words.length > 1 && isPlain(last)
        ? { setup: `target=${last}`, command: [...words.slice(0, -1), '"$target"'].join(" ") }
        : undefined;
    },
  },
  {
    name: "variable-line",
    labels: ALL,
    apply: (words, random) =>
      words.every(isPlain)
        ? {
            setup: `LINE='${words.join(" ")}'`,
            command: random.pick(["$LINE", 'eval "$LINE"', 'bash -c "$LINE"']),
          }
        : undefined,
  },
  {
    name: "array",
    labels: UNSAFE,
    apply: (words) => ({ setup: `cmd=(${words.join(" ")})`, command: `"\${cmd[@]}"`, bashOnly: true }),
  },
  {
    name: "substituted-program",
    labels: UNSAFE,
    apply: (words, random) => {
      const { program, rest } = split(words);
      const made = random.pick([`$(echo ${program})`, `$(printf ${program})`, `"$(echo ${program})"`]);
      return { command: `${made} ${rest}`.trimEnd() };
    },
  },
  {
    name: "xargs-operand",
    labels: UNSAFE,
    apply: (words, random) => {
      const last = words.at(-1) ?? "";
      const start = words.slice(0, -1).join(" ");
      if (!/^(?:rm|chmod|dropdb|git branch -D|docker rm)\b/.test(start) || !/^[\w./]+$/.test(last))
        return undefined;
      return {
        command: random.pick([
          `echo ${last} | xargs ${start}`,
          `printf '%s\\n' ${last} | xargs -n1 ${start}`,
        ]),
        pipeline: true,
      };
    },
  },
  {
    name: "full-width",
    labels: DANGER_ONLY,
    apply: ([program = "", ...rest]) => ({
      command: [fullWidth(program), ...rest].join(" "),
      lookalike: true,
    }),
  },
  {
    name: "ansi-codes",
    labels: DANGER_ONLY,
    apply: ([program = "", ...rest]) => ({
      command: [`\u001b[31m${program}\u001b[0m`, ...rest].join(" "),
      lookalike: true,
    }),
  },
  {
    name: "zero-width",
    labels: DANGER_ONLY,
    apply: ([program = "", ...rest]) => ({
      command: [`${program.slice(0, 1)}\u200b${program.slice(1)}`, ...rest].join(" "),
      lookalike: true,
    }),
  },
];

/** Spells the words in another way that means the same to bash; undefined when the drawn one does not fit. */
export function disguise(words: readonly string[], label: Label, random: Random): Disguised | undefined {
  const evasion = random.pick(EVASIONS.filter((each) => each.labels.includes(label)));
  const made = evasion.apply(words, random);
  return made === undefined ? undefined : { name: evasion.name, ...made };
}
