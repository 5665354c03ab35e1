import { HOST_OPENERS } from "./open-hosts.js";
import { OPERAND_OPENERS } from "./open-operands.js";
import { OTHER_OPENERS } from "./open-others.js";
import { SESSION_OPENERS } from "./open-sessions.js";
import { SHELL_OPENERS } from "./open-shells.js";
import { TOOL_OPENERS } from "./open-tools.js";
import { USER_OPENERS } from "./open-users.js";
import type { Opener } from "./opening.js";
import { openBySpec } from "./wrapper-options.js";
import { WRAPPERS } from "./wrapper-table.js";
import { TOOL_WRAPPERS } from "./wrapper-tools.js";

/** Every program that runs something named in its own words, by name. */
const OPENERS: ReadonlyMap<string, Opener> = new Map<string, Opener>([
  ...Object.entries({ ...WRAPPERS, ...TOOL_WRAPPERS }).map(([program, spec]): [string, Opener] => [
    program,
    (args, input) => openBySpec(spec, args, input),
  ]),
  ...Object.entries(SHELL_OPENERS),
  ...Object.entries(OPERAND_OPENERS),
  ...Object.entries(HOST_OPENERS),
  ...Object.entries(OTHER_OPENERS),
  ...Object.entries(TOOL_OPENERS),
  ...Object.entries(SESSION_OPENERS),
  ...Object.entries(USER_OPENERS),
]);

/** Names with a version or a machine in them: `bash-5.2`, `qemu-x86_64`, `ld-linux-x86-64.so.2`. */
const BY_PATTERN: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^(?:ba|z|k|da|a|mk)?sh-?\d[\d.]*$/, "bash"],
  [/^qemu-[\w-]+$/, "winpty"],
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
    "cargo just nix chokidar find gfind fd fdfind rg git rsync scp sftp sort man make gmake vim vi nvim ex view alias abbr mapfile readarray " +
    "complete compgen bind"
  ).split(" "),
);

export function actsItself(program: string): boolean {
  return ACTS_ITSELF.has(program);
}

export const CARRYING_PROGRAMS: readonly string[] = [...OPENERS.keys()];
