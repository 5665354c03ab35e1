/** Programs that run whatever they are given, or carry data to wherever they are told. */
const ARBITRARY = new Set(
  `sh bash zsh dash ksh ash fish csh tcsh pwsh powershell python pypy perl ruby node nodejs deno bun tsx php lua
  luajit tclsh rscript osascript awk gawk mawk nawk ghci irb psql mysql mariadb sqlite3 mongosh redis-cli
  eval exec source . xargs parallel find fd watch script expect make npx bunx uvx pnpx pipx uv npm pnpm yarn
  curl wget http https xh aria2c ssh scp sftp rsync nc ncat netcat socat telnet ftp lftp tftp nmap dig nslookup
  su runuser chroot unshare nsenter systemd-run docker podman nerdctl kubectl at batch crontab
  gdb strace ltrace vim vi nvim emacs ed ex less more man busybox toybox`.split(/\s+/),
);

/** Words in front of the program that decides. */
const WRAPPERS = new Set(
  "sudo doas env nohup nice ionice timeout time stdbuf setsid command builtin exec chronic flock".split(" "),
);

const WILDCARD = /[*?[]/;

/**
 * A pattern is no command line: it is compared, word by word, with the one spelling that the analysis gives a command,
 * so the blanks in it are all there is to read. True for patterns such as `python *`, `sudo *` or `curl -s *`, and for a bare `bash`: what they would let
 * through has no bound, so they approve nothing dangerous.
 */
export function isTooWide(pattern: string): boolean {
  const words = pattern.trim().split(/\s+/);
  while (/^\w+=/.test(words[0] ?? "")) words.shift();
  return startsWide(words);
}

function startsWide([first = "", ...rest]: readonly string[]): boolean {
  const program = programOf(first);
  if (program === "" || WILDCARD.test(program)) return true;
  if (!WRAPPERS.has(program)) return ARBITRARY.has(program) && !namesOperand(rest);
  // Options of a wrapper, and the number or variable that some of them take.
  const start = rest.findIndex((word) => !/^(?:-|\d|\w+=)/.test(word));
  const inner = start === -1 ? [] : rest.slice(start);
  const mayBeValue = /^-\w$/.test(rest[start - 1] ?? "");
  return startsWide(inner) || (mayBeValue && startsWide(inner.slice(1)));
}

/** The name without folder, version and letter case: `/usr/bin/Python3.12` is `python`. */
export function programOf(word: string): string {
  const name = word.slice(word.lastIndexOf("/") + 1).toLowerCase();
  const bare = name.replace(/\.exe$/, "").replace(/-?\d+(?:\.\d+)*$/, "");
  return ARBITRARY.has(name) || bare === "" ? name : bare;
}

export function runsAnything(program: string): boolean {
  return ARBITRARY.has(program);
}

/** Whether a word before the first free wildcard says on what the program works. What follows an option may be its value. */
function namesOperand(words: readonly string[]): boolean {
  for (const [index, word] of words.entries()) {
    const wildcard = word.search(WILDCARD);
    const fixed = (wildcard === -1 ? word : word.slice(0, wildcard)).replace(/^["']/, "");
    const afterOption = /^-/.test(words[index - 1] ?? "");
    if (wildcard !== -1) return !afterOption && /[\w.]\//.test(fixed.replace(/^[a-z]+:\/\//i, ""));
    if (!afterOption && fixed !== "" && !fixed.startsWith("-")) return true;
  }
  return false;
}
