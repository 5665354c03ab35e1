import type { ShellWord, SimpleCommand } from "../types.js";
import { parseOptions } from "./options.js";
import { local, type Opener, type Opening, wordOf } from "./wrapper-spec.js";

/** Options of the program itself that take a word. */
const TAKING = "profile t toolsets env timeout home m model session config".split(" ");
const WRAPPER = local("hermes");

/**
 * This runtime's own program, started by one of its tools: the call inside is judged like one made directly, as the
 * command line that does the same. Calls that nobody can see (from a file, from another program) are opaque.
 */
const openHermes: Opener = (args, { stdin, fed, fileText }) => {
  const [verb, ...rest] = parseOptions(args, { taking: TAKING }).operands;
  if (verb?.text === "call") {
    const [tool, ...given] = rest;
    if (tool === undefined) return [];
    if (given.length === 1 && given[0]?.text === "-")
      return stdin === undefined ? OPAQUE : openCall(tool.text, [wordOf(stdin)]);
    return openCall(tool.text, given);
  }
  if (verb?.text !== "run") return [];
  const [file, ...inline] = rest;
  if (inline.length > 0) return openCall(file?.text ?? "", inline);
  const text = file === undefined || file.text === "-" ? stdin : fileText(file.text);
  if (text !== undefined) return openCall("", [wordOf(text)]);
  return file !== undefined || fed ? OPAQUE : [];
};

const OPAQUE: readonly Opening[] = [{ kind: "opaque" }];

/** The arguments of a call, as pairs or as JSON, whatever they are wrapped in. */
function openCall(tool: string, given: readonly ShellWord[]): readonly Opening[] {
  const [first] = given;
  if (first === undefined) return [];
  if (!/^\s*[[{"]/.test(first.text)) {
    if (given.some(({ text }) => !text.includes("="))) return OPAQUE;
    const pairs = given.map((word): [string, ShellWord] => {
      const at = word.text.indexOf("=");
      return [word.text.slice(0, Math.max(0, at)), { ...word, text: word.text.slice(at + 1) }];
    });
    return openArguments(tool, pairs);
  }
  try {
    return openJson(tool, JSON.parse(first.text), { like: first, depth: 0 });
  } catch {
    return OPAQUE;
  }
}

const DEEPEST = 8;

function openJson(
  tool: string,
  value: unknown,
  at: { readonly like: ShellWord; readonly depth: number },
): readonly Opening[] {
  if (at.depth > DEEPEST) return OPAQUE;
  const inner = { like: at.like, depth: at.depth + 1 };
  if (typeof value === "string" && /^\s*[[{]/.test(value)) {
    try {
      return openJson(tool, JSON.parse(value), inner);
    } catch {
      return [];
    }
  }
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((each) => openJson(tool, each, inner));
  const entries = Object.entries(value);
  const named = entries.find(([name, given]) => name === "name" && typeof given === "string")?.[1];
  const texts = entries.flatMap(([name, given]): [string, ShellWord][] =>
    typeof given === "string" ? [[name, wordOf(given, at.like)]] : [],
  );
  const name = typeof named === "string" ? named : tool;
  return [...openArguments(name, texts), ...entries.flatMap(([, given]) => openJson(name, given, inner))];
}

function openArguments(tool: string, pairs: readonly (readonly [string, ShellWord])[]): readonly Opening[] {
  const language = pairs.find(([name]) => name === "language")?.[1].text ?? "python";
  return pairs.flatMap(([name, value]): Opening[] => {
    if (/^(?:command|cmd|script|input|data)$/.test(name))
      return [{ kind: "text", text: value, wrapper: WRAPPER }];
    if (name === "code") return [argv(...interpreter(language), value)];
    if (/^(?:path|file|file_path|target|destination|output)$/.test(name))
      return [argv(wordOf(/read|list|search|diff|info/.test(tool) ? "cat" : "tee"), value)];
    return [];
  });
}

function interpreter(language: string): readonly [ShellWord, ShellWord] {
  if (/^(?:ba)?sh|shell/.test(language)) return [wordOf("bash"), wordOf("-c")];
  return /^(?:js|javascript|node|typescript|ts)$/.test(language)
    ? [wordOf("node"), wordOf("-e")]
    : [wordOf("python3"), wordOf("-c")];
}

function argv(...words: readonly ShellWord[]): Extract<Opening, { kind: "argv" }> {
  return { kind: "argv", argv: words, wrapper: WRAPPER };
}

const RUNTIMES =
  /^(?:node|nodejs|bun|deno|tsx|ts-node|npx|bunx|pnpx|npm|pnpm|yarn|uvx|pipx|python[\d.]*|corepack)$/;
const OWN_PROGRAM =
  /(?:^|[/@\\])hermes(?:[-_](?:tools|agent|cli))?(?:@[\w.^~-]+)?(?:\.[cm]?[jt]s|\.cmd|\.exe)?$|hermes[^\s]*\.[cm]?[jt]s$|(?:^|\/)(?:dist|src|build|lib)\/cli\/(?:main|index|program)\.[cm]?[jt]s$|^hermes[-_]?\w*$/i;

/** Only the end of a path matters, and only so much of it is looked at. */
function isOwnProgram(word: ShellWord | undefined): boolean {
  return OWN_PROGRAM.test((word?.text ?? "").slice(-200));
}

/** The runtime's own program reached by its file: `node dist/cli/main.js approvals approve 3`. */
export function openOwnFile(command: SimpleCommand): Opening | undefined {
  const { program, args, assignments } = command;
  const as = (rest: readonly ShellWord[]): Opening => ({
    ...argv(wordOf("hermes", command.name), ...rest),
    assignments,
  });
  if (Object.hasOwn(HERMES_OPENERS, program)) return undefined;
  if (isOwnProgram(command.name)) return as(args);
  if (!RUNTIMES.test(program)) return undefined;
  const at = args.slice(0, 12).findIndex(isOwnProgram);
  return at < 0 ? undefined : as(args.slice(at + 1));
}

export const HERMES_OPENERS: Readonly<Record<string, Opener>> = {
  hermes: openHermes,
  "hermes-tools": openHermes,
  "hermes-agent": openHermes,
};
