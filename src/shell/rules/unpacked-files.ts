import { parseOptions } from "../read/options.js";
import type { ShellWord } from "../types.js";
import { fileEdits } from "./edits.js";
import type { Condition } from "./row.js";
import type { Write, Writer } from "./writes.js";

/** Programs that make files which nobody named: those of an archive, a patch or a tree of links. */

export const unpacked = (word: ShellWord): Write => ({ word, how: "many" });

/** Options that name the folder in which files arise, for programs that unpack when `unpacks` says so. */
function folderOptions(
  options: string,
  unpacks: (args: readonly ShellWord[]) => boolean = () => true,
): Writer {
  const taking = options.split(" ");
  return (args) => {
    if (!unpacks(args)) return [];
    const { values } = parseOptions(args, { taking });
    return taking.flatMap((name) => (values.get(name) ?? []).map(unpacked));
  };
}
const extracts = (args: readonly ShellWord[]): boolean =>
  args.some(({ text }) => /^-[a-zA-Z]*[ix][a-zA-Z]*$|^--extract$|^[xe]$/.test(text));

const replace = (word: ShellWord): Write => ({ word, how: "replace" });

const unpack: Writer = (args) => {
  const [first, ...others] = args;
  if (first === undefined) return [];
  const bundled = !first.text.startsWith("-") && /^[a-zA-Z]+$/.test(first.text);
  const letters = bundled ? first.text : "";
  const rest = bundled ? others : args;
  const { flags, values } = parseOptions(rest, { taking: "f file C directory T X exclude I b".split(" ") });
  const has = (short: string, ...long: string[]) =>
    letters.includes(short) || flags.has(short) || long.some((name) => flags.has(name));
  const folders = [...(values.get("C") ?? []), ...(values.get("directory") ?? [])];
  if (has("x", "extract", "get")) return has("O", "to-stdout") ? [] : folders.map(unpacked);
  if (!has("c", "create") && !has("r", "append") && !has("u", "update")) return [];
  const archive = bundled && letters.includes("f") ? rest[0] : undefined;
  return [archive, ...(values.get("f") ?? []), ...(values.get("file") ?? [])].flatMap((word) =>
    word === undefined || word.text === "-" ? [] : [replace(word)],
  );
};

/** `7z x a.7z -oFOLDER`. */
const sevenZip: Writer = (args) =>
  args.filter(({ text }) => /^-o./.test(text)).map((word) => unpacked({ ...word, text: word.text.slice(2) }));

/** `unrar x a.rar FOLDER`, `dpkg -x a.deb FOLDER`. */
const lastFolder: Writer = (args) =>
  extracts(args) && args.length > 2
    ? args
        .slice(-1)
        .filter(({ text }) => !text.startsWith("-"))
        .map(unpacked)
    : [];

/** `patch -d FOLDER` changes what the patch names. */
const patches: Writer = (args) => {
  const { values } = parseOptions(args, { taking: ["p", "i", "d", "directory", "input", "strip"] });
  const folders = [...(values.get("d") ?? []), ...(values.get("directory") ?? [])];
  const edits = fileEdits({ program: "patch", args });
  return edits.length === 0 ? [] : [...edits, ...folders.map(unpacked)];
};

export const UNPACKERS: Readonly<Record<string, Writer>> = {
  tar: unpack,
  gtar: unpack,
  bsdtar: unpack,
  unzip: folderOptions("d"),
  "7z": sevenZip,
  "7za": sevenZip,
  "7zz": sevenZip,
  "7zr": sevenZip,
  cpio: folderOptions("D directory", extracts),
  unar: folderOptions("o output-directory"),
  unsquashfs: folderOptions("d dest f"),
  unrar: lastFolder,
  rar: lastFolder,
  "dpkg-deb": lastFolder,
  dpkg: lastFolder,
  aunpack: folderOptions("X extract-to"),
  dtrx: folderOptions("o"),
  stow: folderOptions("t target"),
  xstow: folderOptions("t target"),
  patch: patches,
};

/** Members of an archive with absolute names, or names that lead out of the folder, are taken at their word. */
export const writesByArchive: Condition = ({ args, command: { program } }) => {
  const first = args[0]?.text ?? "";
  const letters = /^(?:g|bsd)?tar$/.test(program) && /^[a-zA-Z]+$/.test(first) ? first : "";
  const unpacks =
    /[xi]/.test(letters) ||
    program === "unzip" ||
    args.some(({ text }) => /^-[a-zA-Z]*[xir][a-zA-Z]*$|^--(?:extract|get)$|^[xe]$/.test(text));
  if (!unpacks) return undefined;
  if (letters.includes("P")) return args[0];
  return args.find(
    ({ text }, index) =>
      (/^--(?:absolute-(?:names|filenames|paths)|insecure)$|^-(?:spf2?|ep3|:)$/.test(text) &&
        !(program === "tar" && text === "-:")) ||
      (/tar$|^pax$/.test(program) && /^-[a-zA-Z]*P[a-zA-Z]*$/.test(text)) ||
      (/^(?:--(?:transform|xform)(?:=|$)|-s$)/.test(args[index - 1]?.text ?? text) &&
        /s(.)\^?(?:[^/]*?)\1(?:\/|\.\.\/)\w/.test(text)),
  );
};
