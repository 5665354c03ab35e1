import { HERMES_OPENERS } from "./open-hermes.js";
import { HOST_OPENERS } from "./open-hosts.js";
import { OPERAND_OPENERS } from "./open-operands.js";
import { PROJECT_OPENERS } from "./open-projects.js";
import { SHELL_OPENERS } from "./open-shells.js";
import { TERMINAL_OPENERS } from "./open-terminals.js";
import { type Opener, openBySpec } from "./wrapper-spec.js";
import { WRAPPERS } from "./wrapper-table.js";

/** Every program that runs something named in its own words, by name. */
const OPENERS: ReadonlyMap<string, Opener> = new Map<string, Opener>([
  ...Object.entries(WRAPPERS).map(([program, spec]): [string, Opener] => [
    program,
    (args, input) => openBySpec(spec, args, input),
  ]),
  ...Object.entries(SHELL_OPENERS),
  ...Object.entries(OPERAND_OPENERS),
  ...Object.entries(HOST_OPENERS),
  ...Object.entries(PROJECT_OPENERS),
  ...Object.entries(TERMINAL_OPENERS),
  ...Object.entries(HERMES_OPENERS),
]);

/** Names with a version or a machine in them: `bash-5.2`, `qemu-x86_64`, `ld-linux-x86-64.so.2`. */
const BY_PATTERN: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^(?:ba|z|k|da|a|mk)?sh-?\d[\d.]*$/, "bash"],
  [/^qemu-(?!system-|img$|io$|nbd$|ga$|storage-daemon$|pr-helper$)[\w-]+$/, "winpty"],
  [/^ld(?:-linux|-musl|64|-uclibc)?[\w.-]*\.so(?:\.\d+)*$/, "ld.so"],
];

export function openerOf(program: string): Opener | undefined {
  const known = OPENERS.get(program);
  if (known !== undefined || !/[-\d]/.test(program)) return known;
  const meant = BY_PATTERN.find(([pattern]) => pattern.test(program));
  return meant === undefined ? undefined : OPENERS.get(meant[1]);
}

/** Programs that do something of their own besides running what they are given. */
const ACTS_ITSELF = new Set(
  (
    "npm pnpm yarn composer cmake nyc c8 cargo just nix find gfind fd fdfind rg git sftp lftp ftp telnet smbclient make gmake tar gtar bsdtar gcc g++ clang cc " +
    "rpm dc ed red vim vi nvim ex view gvim vimdiff rvim rview rgvim gview vimx nvimdiff less zless more most alias abbr bind compgen complete jobs fc hermes hermes-tools hermes-agent ansible salt salt-call salt-ssh"
  ).split(" "),
);
/** They run what their option holds and nothing else. */
const ONLY_CARRY = new Set(["nodemon", "nix-shell"]);

export function actsItself(program: string): boolean {
  return ACTS_ITSELF.has(program) || (WRAPPERS[program]?.holds !== undefined && !ONLY_CARRY.has(program));
}

export const CARRYING_PROGRAMS: readonly string[] = [...OPENERS.keys()];
