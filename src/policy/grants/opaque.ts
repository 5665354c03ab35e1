import type { JudgedSegment } from "../../call/scope.js";
import { programOf, runsAnything } from "../../config/wide-pattern.js";
import { UNKNOWN } from "../../shell/types.js";

/** How the shell analysis spells a piece that only the running shell knows. */
const UNKNOWN_PIECE = "<unknown>";

/** Nobody has read more than this when saying yes. */
const LONGEST = 4_096;

/**
 * True when the text of a command does not say what it will do: a piece only the running shell knows, or a
 * program that takes its orders from what it reads. Such a command can be approved once, never by its text.
 */
export function isOpaque({ canonical, rule }: JudgedSegment): boolean {
  if (canonical === "" || canonical.length > LONGEST || rule.startsWith("opaque.")) return true;
  if (canonical.includes(UNKNOWN) || canonical.includes(UNKNOWN_PIECE)) return true;
  const words = canonical.trim().split(/\s+/);
  let first = 0;
  while (RAISING.has(programOf(words[first] ?? ""))) {
    first += 1;
    while (words[first]?.startsWith("-")) first += 1;
  }
  if (first > 0 && first >= words.length) return true;
  // A host or container comes before the program, and only its wrapper knows how many words that takes.
  const last = CARRYING.has(programOf(words[first] ?? "")) ? words.length - 1 : first;
  return words.slice(first, last + 1).some((_word, index) => readsOrders(words.slice(first + index)));
}

const RAISING = new Set("sudo doas pkexec gosu su-exec su runuser chroot".split(" "));
const CARRYING = new Set(
  "ssh mosh rsh docker podman nerdctl kubectl lxc incus machinectl wsl nsenter".split(" "),
);

/** `bash`, `python3 -`, `sh -s`, `node /dev/stdin`: an interpreter without a program of its own. */
function readsOrders([first = "", ...rest]: readonly string[]): boolean {
  const program = programOf(first);
  if (!runsAnything(program) || NOT_INTERPRETERS.has(program)) return false;
  const operands = rest.filter((word) => !/^-|^["']?\/dev\/(?:stdin|fd\/\d+)["']?$/.test(word));
  return operands.length === 0 || rest.some((word) => word === "-" || word === "-s");
}

/** They take words or addresses, not a program from standard input. */
const NOT_INTERPRETERS = new Set(
  `curl wget http https xh aria2c scp sftp rsync nc ncat netcat socat telnet ftp lftp tftp nmap dig nslookup
  find fd make npm pnpm yarn less more man crontab docker podman nerdctl kubectl ssh`.split(/\s+/),
);
