import { UNKNOWN } from "../types.js";
import { actionOf } from "./calls.js";
import type { Language } from "./languages.js";
import {
  type CodeCall,
  type CodeValue,
  changed,
  decodeText,
  filled,
  joinPaths,
  joinTexts,
  listOf,
  NOTHING,
  type ReaderTools,
  replaced,
  reversed,
  textOf,
  textValue,
} from "./values.js";

const HOME_NAMES = new Set(
  "os.environ.HOME process.env.HOME ENV.HOME $ENV.HOME os.environ.USERPROFILE process.env.USERPROFILE Dir.home $_ENV.HOME $_SERVER.HOME env.HOME".split(
    " ",
  ),
);
const OWN_PROGRAM: Readonly<Record<string, string>> = {
  "sys.executable": "python3",
  "process.execPath": "node",
  "process.argv0": "node",
  "RbConfig.ruby": "ruby",
  $EXECUTABLE_NAME: "perl",
  "$^X": "perl",
  PHP_BINARY: "php",
};
/** What parts the names of a path, and a name from its ending. */
const SIGNS: Readonly<Record<string, string>> = {
  "os.sep": "/",
  "os.path.sep": "/",
  "posixpath.sep": "/",
  "path.sep": "/",
  "path.posix.sep": "/",
  "File.SEPARATOR": "/",
  "File.Separator": "/",
  "os.extsep": ".",
  DIRECTORY_SEPARATOR: "/",
};
const HERE = new Set("__dirname __filename __file__ os.curdir Dir.pwd process.cwd.result".split(" "));

/** How values follow from names and calls in the languages that are read. */
export function toolsFor(language: Language): ReaderTools {
  return {
    evaluate: (call) => evaluate(call),
    bare: (name) => isBare(name, language),
    member,
  };
}

const EXTRA_BARE = new Set(
  "require require_relative load unpack pack join glob File.join do open exec include include_once require_once goto".split(
    " ",
  ),
);

function isBare(name: string, language: Language): boolean {
  return EXTRA_BARE.has(name) || actionOf(name, language.name) !== undefined;
}

function member(name: string): CodeValue | undefined {
  if (HOME_NAMES.has(name)) return textValue("~");
  const program = Object.hasOwn(OWN_PROGRAM, name) ? OWN_PROGRAM[name] : undefined;
  if (program !== undefined) return textValue(program);
  if (Object.hasOwn(SIGNS, name)) return textValue(SIGNS[name] ?? "");
  return HERE.has(name) ? textValue(".") : undefined;
}

function evaluate(call: CodeCall): CodeValue {
  const { name, args, receiver } = call;
  const [first, second] = args;
  const last = name.slice(name.lastIndexOf(".") + 1);
  switch (name) {
    case "__import__":
    case "require":
    case "import":
    case "importlib.import_module":
    case "process.mainModule.require":
    case "module.require":
    case "createRequire":
      return first?.kind === "text" ? { kind: "name", name: moduleName(first.text) } : NOTHING;
    case "getattr":
    case "Reflect.get":
      return first?.kind === "name" && second?.kind === "text"
        ? { kind: "name", name: `${first.name}.${second.text}` }
        : NOTHING;
    case "globals":
    case "locals":
    case "vars":
      return { kind: "name", name: "globals" };
    case "os.path.expanduser":
    case "expanduser":
    case "File.expand_path":
    case "os.path.abspath":
    case "os.path.realpath":
    case "os.fspath":
    case "str":
    case "String":
    case "bytes":
    case "Pathname.new":
    case "Pathname":
    case "shlex.quote":
    case "os.fsencode":
    case "File":
    case "realpath":
      return first ?? NOTHING;
    case "os.homedir":
    case "Path.home":
    case "pathlib.Path.home":
    case "Dir.home":
      return textValue("~");
    case "os.getcwd":
    case "process.cwd":
    case "Path.cwd":
    case "pathlib.Path.cwd":
    case "Dir.pwd":
    case "getcwd":
      return textValue(".");
    case "os.getenv":
    case "os.environ.get":
    case "getenv":
    case "ENV.fetch":
    case "Deno.env.get":
    case "System.getenv":
      return first?.kind === "text" && first.text === "HOME" ? textValue("~") : NOTHING;
    case "os.path.join":
    case "path.join":
    case "path.resolve":
    case "File.join":
    case "Path":
    case "pathlib.Path":
    case "PurePath":
    case "join_path":
    case "posixpath.join":
    case "path.posix.join":
    case "File.Spec.catfile":
    case "File.Spec.catdir":
    case "pathlib.PurePosixPath":
    case "pathlib.PosixPath":
    case "pathlib.PurePath":
      return joinPaths(args);
    case "chr":
    case "unichr":
    case "String.fromCharCode":
    case "String.fromCodePoint":
    case "string.char":
      return textValue(args.map((value) => character(value)).join(""));
    case "implode":
    case "join": {
      const pieces = second?.kind === "list" ? second.items : args.slice(1);
      if (first?.kind === "text" && pieces.length > 0) return joinTexts(pieces, first.text);
      break;
    }
    case "shlex.split":
      return words(textOf(first));
    case "base64.b64decode":
    case "base64.decodebytes":
    case "base64.standard_b64decode":
    case "base64.urlsafe_b64decode":
    case "b64decode":
    case "atob":
    case "base64_decode":
    case "Base64.decode64":
    case "Base64.strict_decode64":
    case "decode_base64":
    case "MIME.Base64.decode":
      return decodeText(textOf(first), "base64");
    case "bytes.fromhex":
    case "bytearray.fromhex":
    case "binascii.unhexlify":
    case "hex2bin":
      return decodeText(textOf(first), "hex");
    case "Buffer.from":
      return /^(?:base64(?:url)?|hex)$/.test(textOf(second))
        ? decodeText(textOf(first), textOf(second) === "hex" ? "hex" : "base64")
        : (first ?? NOTHING);
    default:
      break;
  }
  if (receiver !== undefined) {
    const value = method({ name: last, receiver, args });
    if (value !== undefined) return value;
  }
  return byOrigin(call);
}

function method({
  name,
  receiver,
  args,
}: {
  name: string;
  receiver: CodeValue;
  args: readonly CodeValue[];
}): CodeValue | undefined {
  if (receiver.kind === "text" && name === "join") {
    const [list] = args;
    return list?.kind === "list" ? joinTexts(list.items, receiver.text) : NOTHING;
  }
  if (receiver.kind === "list" && name === "join")
    return joinTexts(receiver.items, args[0] === undefined ? "," : textOf(args[0]));
  if (receiver.kind === "list" && /^(?:reverse|concat)$/.test(name))
    return name === "reverse" ? reversed(receiver) : NOTHING;
  if (receiver.kind !== "text")
    return receiver.kind === "unknown" &&
      /^(?:read|decode|text|toString|strip|trim|content|body|encode)$/.test(name)
      ? receiver
      : undefined;
  const { text } = receiver;
  switch (name) {
    case "split":
      return args.length === 0 || /^\s*$/.test(textOf(args[0]))
        ? words(text, textOf(args[0]))
        : listOf(text.split(textOf(args[0]), MOST_PIECES));
    case "format":
      return filled(text, args);
    case "replace":
    case "replaceAll":
    case "gsub":
    case "sub":
      return args[0]?.kind === "text" && args[1]?.kind === "text"
        ? replaced(text, args[0].text, args[1].text)
        : textValue(UNKNOWN);
    case "lower":
    case "toLowerCase":
    case "downcase":
      return changed(text, () => text.toLowerCase());
    case "upper":
    case "toUpperCase":
    case "upcase":
      return changed(text, () => text.toUpperCase());
    case "reverse":
      return changed(text, () => [...text].reverse().join(""));
    case "expanduser":
    case "resolve":
    case "absolute":
    case "encode":
    case "decode":
    case "strip":
    case "trim":
    case "toString":
    case "as_posix":
    case "to_s":
      return textValue(text.trim());
    case "joinpath":
      return joinPaths([receiver, ...args]);
    case "concat":
      return joinTexts([receiver, ...args], "");
    default:
      return undefined;
  }
}

function byOrigin(call: CodeCall): CodeValue {
  const { name } = call;
  if (
    /(?:^|\.)(?:readFileSync|readFile|read_text|read_bytes|file_get_contents|readTextFile(?:Sync)?|open)$/.test(
      name,
    )
  ) {
    const [first] = call.args;
    if (textOf(first) === "0" || textOf(first) === "/dev/stdin") return { kind: "unknown", origin: "input" };
    const remote = call.args.some(
      (value) => value.kind === "text" && /^(?:https?|ftp|php):/i.test(value.text),
    );
    return { kind: "unknown", origin: remote ? "network" : "file" };
  }
  if (/(?:^|\.)(?:urlopen|get|post|fetch|curl_exec|request)$/.test(name))
    return { kind: "unknown", origin: "network" };
  if (/(?:decompress|loads|unhexlify|decode|inflate|unpack|rot13)/i.test(name))
    return { kind: "unknown", origin: "decoded" };
  if (/^(?:input|raw_input|gets|readline|prompt)$/.test(name)) return { kind: "unknown", origin: "input" };
  return NOTHING;
}

function character(value: CodeValue): string {
  const code = value.kind === "number" ? Number(value.text) : Number.NaN;
  return Number.isInteger(code) && code >= 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : UNKNOWN;
}

/** One more than a list may have: what is longer is not known. */
const MOST_PIECES = 1_025;

function words(text: string, separator = " "): CodeValue {
  return listOf(separator === "" ? [...text.slice(0, MOST_PIECES)] : text.trim().split(/\s+/, MOST_PIECES));
}

/** `node:fs/promises` → `fs.promises`. */
function moduleName(module: string): string {
  return module.replace(/^node:/, "").replaceAll("/", ".");
}
