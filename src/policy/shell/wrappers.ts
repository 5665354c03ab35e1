import { HOST_OPENERS } from "./open-hosts.js";
import { OPERAND_OPENERS } from "./open-operands.js";
import { OTHER_OPENERS } from "./open-others.js";
import { SESSION_OPENERS } from "./open-sessions.js";
import { SHELL_OPENERS } from "./open-shells.js";
import { USER_OPENERS } from "./open-users.js";
import type { Opener } from "./opening.js";
import { openBySpec } from "./wrapper-options.js";
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
  ...Object.entries(OTHER_OPENERS),
  ...Object.entries(SESSION_OPENERS),
  ...Object.entries(USER_OPENERS),
]);

export function openerOf(program: string): Opener | undefined {
  return OPENERS.get(program);
}

/** Programs that do something of their own besides running what they are given. */
const ACTS_ITSELF = new Set(
  (
    "find gfind fd fdfind rg git rsync scp sftp sort man make gmake vim vi nvim ex view alias abbr mapfile readarray " +
    "complete compgen bind"
  ).split(" "),
);

export function actsItself(program: string): boolean {
  return ACTS_ITSELF.has(program);
}

export const CARRYING_PROGRAMS: readonly string[] = [...OPENERS.keys()];
