import { type ShellWord, type SimpleCommand, UNKNOWN } from "../types.js";
import { producersOf } from "./flows.js";
import { isDownloadPlace, isHomeLike, isPersonal, isPersonalFolder, isSomeonesHome } from "./places.js";
import { type Condition, subject } from "./row.js";
import { inHome, placeOf } from "./segments.js";
import { writesOf } from "./writes.js";

/** `gio move`, `cmake -E rename`, `kioclient move`. */
const MOVES = /^(?:move|moveto|mv|rename)$/;

/** What is moved, and where to. */
function movement({ program, args }: SimpleCommand): {
  readonly sources: readonly ShellWord[];
  readonly target: ShellWord | undefined;
} {
  const verb = /^g?mv$/.test(program) ? -1 : args.slice(0, 2).findIndex(({ text }) => MOVES.test(text));
  if (verb < 0 && !/^g?mv$/.test(program)) return { sources: [], target: undefined };
  const rest = args.slice(verb + 1);
  const at = rest.findIndex(({ text }) => /^(?:-t|--target-directory)(?:=|$)/.test(text));
  const option = rest[at];
  const folder = option?.text.includes("=")
    ? { ...option, text: option.text.slice(option.text.indexOf("=") + 1) }
    : at < 0
      ? undefined
      : rest[at + 1];
  const operands = rest.filter((word) => word !== folder && !word.text.startsWith("-"));
  return folder === undefined
    ? { sources: operands.slice(0, -1), target: operands.at(-1) }
    : { sources: operands, target: folder };
}

/** Memory: what is moved there is gone when the machine is switched off. */
function isMemory(word: ShellWord): boolean {
  const { anchor, segments } = placeOf(word);
  return anchor === "root" && (segments[0] === "run" || (segments[0] === "dev" && segments[1] === "shm"));
}

/** `~/work`: a folder by its name, with all that somebody does in it. */
function isTopOfHome(word: ShellWord): boolean {
  const { anchor } = placeOf(word);
  const [first = "", ...others] = anchor === "unknown" ? [] : (inHome(word) ?? []);
  return first !== "" && others.length === 0 && /^[a-z][\w-]*$/i.test(first);
}

/** `mv ~/Documents x`, `mv ~/Pictures/* /tmp`, `mv ~/work /dev/shm`. */
const movesAway: Condition = ({ command }) => {
  const { sources, target } = movement(command);
  if (target === undefined) return undefined;
  const leaves = placeOf(target).anchor === "root" && inHome(target) === undefined;
  return sources.find((word) => {
    if (isMemory(target)) return inHome(word) !== undefined && placeOf(word).anchor !== "unknown";
    if (isDownloadPlace(target) && isTopOfHome(word)) return true;
    return isPersonalFolder(word) && (leaves || !/[*?[]/.test(word.text));
  });
};

const ENCRYPTS: Readonly<Record<string, RegExp>> = {
  openssl: /^(?:enc|aes-?\S+|camellia\S*|des\S*|smime|cms|chacha20)$/,
  gpg: /^(?:-[a-zA-Z]*[ce][a-zA-Z]*|--symmetric|--encrypt|--encrypt-files|--multifile)$/,
  gpg2: /^(?:-[a-zA-Z]*[ce][a-zA-Z]*|--symmetric|--encrypt|--encrypt-files|--multifile)$/,
  age: /^(?:-[erRp]|--encrypt|--recipient|--passphrase|--recipients-file)$/,
  rage: /^(?:-[erRp]|--encrypt|--recipient|--passphrase)$/,
  ccrypt: /^(?:-[a-z]*[eE]|--encrypt|-[kK]\S*|--key\S*)$/,
  ccencrypt: /./,
  mcrypt: /./,
  aescrypt: /^-e$/,
  scrypt: /^enc$/,
  sops: /^(?:-e|--encrypt|encrypt|-i|--in-place)$/,
};
const DECRYPTS = /^(?:-d|--decrypt|decrypt|--decrypt-files|dec|-decrypt)$/;

/** Encrypting one file is asked for by its name; whoever goes through a folder takes it from its owner. */
const encryptsMany: Condition = ({ command: { program, args, repeated, redirects } }) => {
  const mark = Object.hasOwn(ENCRYPTS, program) ? ENCRYPTS[program] : undefined;
  if (mark === undefined || args.some(({ text }) => DECRYPTS.test(text))) return undefined;
  if (!args.some(({ text }) => mark.test(text))) return undefined;
  const words = [...args, ...redirects.map(({ target }) => target)];
  const inPlace = /^(?:ccrypt|ccencrypt|mcrypt|aescrypt)$/.test(program);
  return words.find((word) =>
    isPersonal(word)
      ? repeated || /[*?[\uFFFC]/.test(word.text) || isPersonalFolder(word) || isHomeLike(word)
      : repeated && inPlace && word.text === UNKNOWN,
  );
};

const NOISE = /^\/dev\/(?:zero|u?random|full)$/;

/** `head -c 1M /dev/urandom > ~/Documents/x`, `openssl rand -out ~/Pictures/x 9999`: noise in place of what was there. */
const overwritesWithNoise: Condition = ({ command }) => {
  const isNoise = ({ program, args, input }: SimpleCommand): boolean =>
    args.some(({ text }) => NOISE.test(text.replace(/^if=/, ""))) ||
    (input.kind === "file" && NOISE.test(input.path.text)) ||
    (program === "openssl" && args[0]?.text === "rand");
  if (!isNoise(command) && !producersOf(command).some(isNoise)) return undefined;
  return writesOf(command).find(({ word, how }) => how !== "append" && how !== "touch" && isPersonal(word))
    ?.word;
};

/** `split --filter='cat > ~/Documents/$FILE'`: whatever is called like that is written over. */
const overwritesUnnamed: Condition = ({ command }) =>
  writesOf(command).find(
    ({ word, how }) =>
      how === "replace" &&
      word.text.endsWith(`/${UNKNOWN}`) &&
      word.outputs === undefined &&
      isPersonal(word),
  )?.word;

/** What people made themselves and keep in the folders of their home: nobody else has a copy. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("personal", [
  { program: "*", when: movesAway, rule: "personal.moved", reason: "moves folders of a person to where nobody looks for them",
    match: ["mv ~/Documents x", "mv ~/Pictures/* /var/tmp/p", "mv -t /dev/shm ~/work", "gio move ~/Videos /tmp/v", "mv ~/work /tmp/.t", "python3 -c 'import shutil;shutil.move(\"/home/ann/Music\",\"/tmp/m\")'"],
    not_match: ["mv ~/Documents/a.txt ~/Documents/b.txt", "mv ~/Pictures/*.png ~/Pictures/2024/", "mv ~/a.tgz /tmp/", "mv ~/work/a.log /tmp/"] },
  { program: "*", when: encryptsMany, rule: "personal.encrypted", reason: "encrypts the files of a person one after the other",
    match: ["find ~/Documents -type f -exec gpg -c {} \\;", "for f in ~/Pictures/*; do age -r k -o \"$f.age\" \"$f\"; done", "ccencrypt ~/Documents/*", "ccrypt -e -r ~/Documents"],
    not_match: ["gpg -c ~/Documents/a.pdf", "for f in *.txt; do gpg -c \"$f\"; done", "for f in ~/Documents/*.gpg; do gpg -d \"$f\"; done"] },
  { program: "*", when: overwritesUnnamed, rule: "truncate.file", reason: "writes over files of a person that nobody named",
    match: ["split --filter='cat > ~/Documents/$FILE' a", "cat a > ~/Pictures/\"$NAME\""], not_match: ["cat a > ~/Documents/a.txt", "cat a > ~/Documents/$(date +%F).txt"] },
  { program: "*", when: overwritesWithNoise, rule: "truncate.file", reason: "writes noise over the files of a person",
    match: ["head -c 9M /dev/urandom > ~/Documents/a.kdbx", "openssl rand -out ~/Pictures/a.jpg 9999"],
    not_match: ["head -c 32 /dev/urandom > key.bin", "openssl rand -hex 16"] },
  { program: "gzip|pigz|bzip2|pbzip2|lbzip2|xz|pixz|zstd|lz4|lzma|lzop|compress|brotli|gunzip|bunzip2|unxz|dos2unix|unix2dos|convmv|recode|iconv|black|isort|autopep8|yapf|prettier|eslint|ruff|gofmt|goimports|rustfmt|clang-format|shfmt|standard|biome|rubocop|php-cs-fixer|sponge|rename|prename|detox", dry: "check c stdout to-stdout t test l list diff d k keep dry-run n",
    when: ({ operands, command: { program }, flags, args }) => {
      if (/^(?:p?ixz|p?i?gz(?:ip)?|gzip|[pl]?b(?:un)?zip2|xz|zstd|lz4|lzma|lzop|compress|brotli|gunzip|unxz)$/.test(program) && !["r", "recursive", "R"].some((name) => flags.has(name)) && !args.some(({ glob }) => glob)) return undefined;
      if (/^(?:prettier|eslint|biome|ruff|clang-format|gofmt|goimports|shfmt|rubocop|standard)$/.test(program) && !args.some(({ text }) => /^(?:-w|-i|-a|-A|--write|--fix|--in-place|--autocorrect\S*|format)$/.test(text))) return undefined;
      return operands.find((word) => isHomeLike(word) || isSomeonesHome(word));
    },
    rule: "files.in-place", reason: "rewrites every file of a home", match: ["gzip -r ~/", "bzip2 -r ~", "zstd --rm -r /home/dev", "prettier --write ~", "black ~", "ruff check --fix ~"],
    not_match: ["gzip -r logs", "gzip ~/a.txt", "prettier --check ~", "black src", "ruff check ~", "zstd -r data"] },
]);
