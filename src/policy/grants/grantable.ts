import type { JudgedSegment } from "../../call/scope.js";
import { programOf, runsAnything } from "../../config/wide-pattern.js";
import { outlineOf } from "../../shell/analysis.js";
import { UNKNOWN } from "../../shell/types.js";

/** What nobody can check at a glance is not worth remembering. */
const LONGEST = 2_000;

/**
 * What "always" would write down for the parts that were asked about: each one's exact text. Nothing at all
 * when one of them cannot be remembered, because the line would be asked about again in spite of it.
 */
export function rememberable(
  segments: readonly JudgedSegment[],
  redact: (text: string) => string = (text) => text,
): string[] {
  const asked = segments.filter((segment) => segment.verdict !== "safe");
  const all = asked.every(
    (segment) => canRemember(segment) && redact(segment.canonical) === segment.canonical,
  );
  return all ? [...new Set(asked.map((segment) => segment.canonical))] : [];
}

function canRemember(segment: JudgedSegment): boolean {
  if (segment.verdict === "hardline" || isOpaque(segment)) return false;
  if (isAltered({ command: segment.text })) return false;
  // Invisible characters could make the shown text differ from the saved one.
  return segment.canonical.length <= LONGEST && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(segment.canonical);
}

/** How the shell analysis spells a piece that only the running shell knows. */
const UNKNOWN_PIECE = "<unknown>";

/** Nobody has read more than this when saying yes. */
const LONGEST_READ = 4_096;

/**
 * True when the text of a command does not say what it will do: a piece only the running shell knows, or a
 * program that takes its orders from what it reads. Such a command can be approved once, never by its text.
 */
export function isOpaque({ canonical, rule }: JudgedSegment): boolean {
  if (canonical === "" || canonical.length > LONGEST_READ || rule.startsWith("opaque.")) return true;
  if (canonical.includes(UNKNOWN) || canonical.includes(UNKNOWN_PIECE)) return true;
  // Of a group only what it reads and writes is here; its commands are parts of their own.
  if (canonical.startsWith("{ ")) return false;
  const [only] = outlineOf(canonical)?.commands ?? [];
  if (only === undefined) return true;
  const { words } = only;
  let first = 0;
  while (RAISING.has(programOf(words[first] ?? ""))) {
    first += 1;
    while (words[first]?.startsWith("-")) first += 1;
  }
  if (first > 0 && first >= words.length) return only.plain;
  // A host or container comes before the program, and only its wrapper knows how many words that takes.
  const last = CARRYING.has(programOf(words[first] ?? "")) ? words.length - 1 : first;
  return words
    .slice(first, last + 1)
    .some((_word, index) => readsOrders(words.slice(first + index), only.plain));
}

const RAISING = new Set("sudo doas pkexec gosu su-exec su runuser chroot".split(" "));
const CARRYING = new Set(
  "ssh mosh rsh docker podman nerdctl kubectl lxc incus machinectl wsl nsenter".split(" "),
);

/** `bash`, `python3 -`, `sh -s`, `node /dev/stdin`: an interpreter without a program of its own. */
function readsOrders([first = "", ...rest]: readonly string[], plain: boolean): boolean {
  const program = programOf(first);
  if (!runsAnything(program) || NOT_INTERPRETERS.has(program)) return false;
  const operands = rest.filter((word) => !/^-\S*$|^\/dev\/(?:stdin|fd\/\d+)$/.test(word));
  // A file behind `<` is named in the text.
  return (operands.length === 0 && plain) || rest.some((word) => word === "-" || word === "-s");
}

/** They take words or addresses, not a program from standard input. */
const NOT_INTERPRETERS = new Set(
  `curl wget http https xh aria2c scp sftp rsync nc ncat netcat socat telnet ftp lftp tftp nmap dig nslookup
  find fd make npm pnpm yarn less more man crontab docker podman nerdctl kubectl ssh`.split(/\s+/),
);

/** The line a part stands in. */
interface Surroundings {
  readonly command: string;
  /** What every command of the line comes to, the harmless ones included. */
  readonly parts?: readonly string[];
}

/**
 * What stands around a command can make the same words mean something else: other code, another user, another
 * root. None of that is in the text that grants are compared by, so such a line is covered as a whole or not.
 * A word in the wrong place costs a question; so everything is looked at without its quotes, wherever it stands.
 */
export function isAltered({ command, parts = [] }: Surroundings): boolean {
  const bare = unquoted(command);
  if ([bare, ...parts.map(unquoted)].some((text) => STEERING_VARIABLE.test(text))) return true;
  if (parts.some((part) => SETS_UNKNOWN.test(part) || REBINDS.test(part))) return true;
  return STEERING_OPTION.test(bare) || OTHER_PLACE.test(bare);
}

function unquoted(text: string): string {
  return text.replace(/\\\n|['"\\]/g, "");
}

/** Variables that change which code a program runs, in any place but where they are only read. */
const STEERING_VARIABLE =
  /(?<![\w$-]|\$\{[#!]?)(?:LD_\w+|DYLD_\w+|PATH|BASH_ENV|ENV|SHELLOPTS|IFS|PROMPT_COMMAND|PYTHON[A-Z]\w*|PERL(?:LIB|\d\w*|_\w+)|RUBY[A-Z]\w*|NODE_OPTIONS|JAVA_TOOL_OPTIONS|GIT_\w+|SSH_\w+|EDITOR|VISUAL|PAGER|BROWSER|\w+_(?:PAGER|EDITOR|ASKPASS))(?![\w-])|\$\{(?:PATH|IFS|ENV)\W?=/;

/** `read $name`: which variable it is, only the running shell knows. */
const SETS_UNKNOWN =
  /^(?:export|declare|typeset|local|readonly|read|mapfile|readarray|printf -v|getopts|let|unset)\b.*(?:^|\s)'?<unknown>/;

/** `hash -p /elsewhere/rm rm`: a name comes to stand for another program. */
const REBINDS = /^(?:hash|enable)\b/;

/** Options of wrappers for another user, group, root or folder. */
const STEERING_OPTION =
  /\b(?:sudo|doas|su|runuser|pkexec|env|setpriv|chpst|start-stop-daemon)\b[^;&|\n]{0,200}?\s(?:-[A-Za-z]{0,20}[CDRTUgu](?=[\s=/\w])|--(?:user|group|chroot|chdir|working-directory|root|reuid|regid|uid|gid)\b)/;

/** Wrappers that lead to another root, another folder, or a program of the same name from elsewhere. */
const OTHER_PLACE =
  /(?<![\w./-])(?:[\w./-]*\/)?(?:chroot|fakechroot|proot|unshare|nsenter|setns|systemd-run|systemd-nspawn|bwrap|firejail|flatpak|toolbox|distrobox|npx|bunx|pnpx|uvx|pipx)(?![\w.-])/;
