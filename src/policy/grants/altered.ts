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
