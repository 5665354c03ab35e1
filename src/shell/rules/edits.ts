import { parseOptions } from "../read/options.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { names } from "./row.js";
import type { Write } from "./writes.js";

const EDITORS = names(
  "vi vim nvim nano pico emacs micro joe mcedit ne jed kak helix hx gedit kate sudoedit ed ex red",
);
const UNPACKERS = names("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lzma unlzma compress uncompress");

/** Files that a program changes in place. */
export function fileEdits(command: Pick<SimpleCommand, "program" | "args">): readonly Write[] {
  const { program, args } = command;
  const files = filesEdited(program, args);
  return files.map((word) => ({ word, how: "edit" }));
}

function filesEdited(program: string, args: readonly ShellWord[]): readonly ShellWord[] {
  if (program === "sed" || program === "gsed") return sedFiles(args);
  if (/^(?:perl|ruby)[\d.]*$/.test(program)) return scriptedFiles(args);
  if (/^[gmn]?awk$/.test(program)) return awkFiles(args);
  if (EDITORS.has(program)) {
    const reading = args.some(({ text }) => /^(?:-R|-M|--version|--help|-v|--view)$/.test(text));
    return reading
      ? []
      : parseOptions(args, { taking: ["c", "cmd", "u", "S"] }).operands.filter(
          ({ text }) => !text.startsWith("+"),
        );
  }
  if (UNPACKERS.has(program)) {
    const { flags, operands } = parseOptions(args, { taking: ["S", "o"] });
    return ["c", "stdout", "to-stdout", "k", "keep", "l", "list", "t", "test"].some((name) => flags.has(name))
      ? []
      : operands;
  }
  if (program === "patch") return patchFiles(args);
  if (program === "yq" || program === "dasel")
    return args.some(({ text }) => text === "-i" || text === "--inplace")
      ? parseOptions(args).operands.slice(-1)
      : [];
  if (program === "crudini")
    return parseOptions(args)
      .operands.slice(0, 1)
      .filter(() => !args.some(({ text }) => text === "--get"));
  return [];
}

/** `sed -i`, and the files its `w` command names. */
function sedFiles(args: readonly ShellWord[]): readonly ShellWord[] {
  let inPlace = false;
  const scripts: ShellWord[] = [];
  const operands: ShellWord[] = [];
  let scriptGiven = false;
  for (let index = 0; index < args.length; index++) {
    const word = args[index] as ShellWord;
    const { text } = word;
    if (text === "--") {
      operands.push(...args.slice(index + 1));
      break;
    }
    if (/^--in-?p?l?a?c?e?(?:=|$)/.test(text) && text.length > 4) inPlace = true;
    else if (/^--(?:expression|file)(?:=|$)/.test(text)) {
      scriptGiven = true;
      const given = text.includes("=") ? { ...word, text: text.slice(text.indexOf("=") + 1) } : args[++index];
      if (given !== undefined && text.startsWith("--e")) scripts.push(given);
    } else if (/^-[a-zA-Z]/.test(text)) {
      const cluster = /^-([nErsuzlb]*)([ief]?)(.*)$/s.exec(text);
      if (cluster?.[2] === "i") inPlace = true;
      if (cluster?.[2] === "e" || cluster?.[2] === "f") {
        scriptGiven = true;
        const given = cluster[3] === "" ? args[++index] : { ...word, text: cluster[3] ?? "" };
        if (given !== undefined && cluster[2] === "e") scripts.push(given);
      }
    } else operands.push(word);
  }
  const script = scriptGiven ? undefined : operands.shift();
  if (script !== undefined) scripts.push(script);
  const written = scripts.flatMap((text) => filesOfScript(text, /(?:^|[;{}\s/|#,$\d])w[ \t]+([^\n;}]+)/g));
  return inPlace ? [...operands, ...written] : written;
}

/** `print > "/etc/motd"` inside an awk program. */
function awkFiles(args: readonly ShellWord[]): readonly ShellWord[] {
  const operands = parseOptions(args, { taking: ["F", "v", "f", "i"] }).operands;
  const inPlace = args.some(({ text }, index) => text === "inplace" && args[index - 1]?.text === "-i");
  const fromFile = args.some(({ text }) => text === "-f");
  const script = fromFile ? undefined : operands[0];
  const written = script === undefined ? [] : filesOfScript(script, />>?[ \t]*"([^"\n]+)"/g);
  return inPlace ? [...operands.slice(fromFile ? 0 : 1), ...written] : written;
}

function filesOfScript(script: ShellWord, pattern: RegExp): readonly ShellWord[] {
  if (script.text.length > 20_000) return [];
  return [...script.text.matchAll(pattern)].map((match) => ({
    ...script,
    text: (match[1] ?? "").trim(),
    glob: false,
  }));
}

/** `perl -i`, `perl -pi.bak -e`, `ruby -i`: everything after the script is a file. */
function scriptedFiles(args: readonly ShellWord[]): readonly ShellWord[] {
  const inPlace = args.some(({ text }) => /^-[0a-zA-HJ-Z]*i/.test(text) && !/^-[IMme]/.test(text));
  if (!inPlace) return [];
  const operands: ShellWord[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] as ShellWord;
    if (/^-[a-zA-Z0-9.]*[eE]$/.test(word.text)) index++;
    else if (!word.text.startsWith("-")) operands.push(word);
  }
  return operands;
}

function patchFiles(args: readonly ShellWord[]): readonly ShellWord[] {
  const { flags, values, operands } = parseOptions(args, {
    taking: "p i d o D F r B Y z strip input directory output".split(" "),
  });
  if (flags.has("dry-run") || flags.has("C")) return [];
  const named = ["d", "directory", "o", "output"].flatMap((name) => values.get(name) ?? []);
  return [...named, ...operands.slice(0, 1)];
}
