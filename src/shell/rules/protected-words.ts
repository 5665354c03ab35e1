import { inlineCode } from "../code/inline.js";
import { actsItself, openerOf } from "../read/wrappers.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { isShell } from "./flows.js";
import { pathsIn, withHome } from "./mentioned-paths.js";
import { isControlSocket, isHermesOwn, isKeyPlace, isStartupFile } from "./places.js";
import { type Condition, names, subject } from "./row.js";
import { placeOf } from "./segments.js";

/**
 * No list of programs that write files is ever complete. So a word that leads into the runtime's own home, or to
 * keys, counts whatever the program: only those are let pass that are known to do nothing but look.
 */

const LOOKS = names(
  "ls exa eza lsd tree stat test [ [[ file wc du df chmod touch mkdir echo printf realpath readlink dirname basename cd " +
    "pushd popd pwd md5sum sha1sum sha256sum sha512sum shasum cksum b2sum getfacl lsattr namei rm unlink cat tac nl head " +
    "tail less more most bat batcat view xxd od hexdump hd strings base64 base32 cut sort uniq paste fold fmt column " +
    "diff comm cmp colordiff sdiff rev pr expand iconv look grep egrep fgrep zgrep rg ag ack sed gsed awk gawk mawk jq yq " +
    "get-content gc type zcat true : export declare typeset local readonly unset read source . alias which whereis command " +
    "fd fdfind locate cp mv ln install tee rsync scp tar unzip truncate hermes hermes-agent hermes-tools " +
    "dd shred rmdir link chown chgrp fuser lsof inotifywait kill pgrep mdfind multitail wait jobs",
);

/** Verbs of git that only look, or that put what is there into the repository. */
const GIT_LOOKS = names(
  "status log diff show blame ls-files ls-tree rev-parse add commit check-ignore grep shortlog describe cat-file",
);

/** Programs that a person's keys are meant for; what they may do with them has rules of its own. */
const KEY_USERS = names(
  "ssh scp sftp rsync ssh-add ssh-keygen ssh-keyscan ssh-copy-id ssh-agent mosh autossh sshfs sshpass eval gpg gpg2 gpgconf " +
    "gpg-agent gpgsm gpg-connect-agent keychain aws aws-vault aws-sso sam cdk eksctl copilot kubectl kubectx kubens k9s oc helm " +
    "helmfile kustomize stern kind minikube k3d docker docker-compose podman buildah skopeo nerdctl crane az gcloud gsutil bq " +
    "hub op rclone doctl heroku vault terraform tofu terragrunt pulumi npm yarn pnpm pip pip3 twine poetry uv cargo gem bundle " +
    "composer mvn gradle nuget dotnet psql pg_dump pg_restore createdb mysql mysqldump mysqladmin mycli pgcli s3cmd databricks " +
    "snowsql fly flyctl pass sops age kaggle huggingface-cli hf oci ibmcloud aliyun ansible-playbook ansible-vault " +
    "vagrant packer chezmoi stow restorecon setfacl curl wget http claude codex git find gfind fd fdfind sudo doas su",
);

/** Options whose value is read by people: it mentions places, and leads to none. */
const PROSE = /^(?:-m|-am|--message|--body|-b|--title|--notes|--grep|--description|--comment|--subject|-F)$/;
/** What it logs in with elsewhere. */
const IDENTITY = /^--(?:private-key|key-file|identity-file|ssh-private-key-file|vault-password-file)(?:=|$)/;
const OUTPUT = /^(?:-o|--out(?:put)?(?:-[\w-]+)?)(?:=|$)|^-o[~/.]|^--(?:prefix|directory|to|dest\w*)(?:=|$)/;

/** Programs whose words belong to what they run. */
const onlyOpens = (program: string): boolean => openerOf(program) !== undefined && !actsItself(program);

/** Words that lead somewhere, without what is said in passing and what is looked at elsewhere. */
function leads(command: SimpleCommand, isThere: (path: ShellWord) => boolean): ShellWord | undefined {
  const { program, args } = command;
  if (onlyOpens(program)) return undefined;
  const code = inlineCode(command);
  const readsCode = code !== undefined && code.language.name !== "sql";
  return args.find((word, index) => {
    const isText = /\s/.test(word.text);
    if (isText && (readsCode || PROSE.test(args[index - 1]?.text ?? ""))) return false;
    if (IDENTITY.test(args[index - 1]?.text ?? "") || IDENTITY.test(word.text)) return false;
    if (isText && /^--?(?:message|body|title|grep|m|format|pretty)=/.test(word.text)) return false;
    return pathsIn(word).some(isThere);
  });
}

/** `sqlite3 x '.once ~/.hermes/config.yaml'`, `git clone … ~/.hermes/plugins/x`, `cmake -E copy x ~/.hermes/config.yaml`. */
const touchesOwn: Condition = ({ command }) => {
  const { program, args } = command;
  // `git log` is asked about as `git` already.
  if (program === "" || program.includes(" ")) return undefined;
  // `HOME=~/.hermes/tools pip install --user x`: a program finds its places in variables.
  const moved = command.assignments.find(({ value }) => /[/~]/.test(value.text) && isOwn(value))?.value;
  if (moved !== undefined) return moved;
  if (LOOKS.has(program)) return undefined;
  const word = leads(command, isOwn);
  if (word === undefined) return undefined;
  if (program === "find" || program === "gfind") return findsToAct(command) ? word : undefined;
  if (program !== "git") return word;
  const verb = args.find(
    ({ text }, index) => !text.startsWith("-") && !/^-[Cc]$/.test(args[index - 1]?.text ?? ""),
  );
  const onlyLooks = GIT_LOOKS.has(verb?.text ?? "") && !args.some(({ text }) => OUTPUT.test(text));
  return onlyLooks ? undefined : word;
};

/** Results that were too long for an answer lie there, for whoever asked. */
function isOwn(path: ShellWord): boolean {
  if (!isHermesOwn(path)) return false;
  const { segments } = placeOf(path);
  const home = segments.indexOf(".hermes");
  return !(segments[home + 1] === "cache" && segments[home + 2] === "spillover");
}

/** `find ~/.hermes -name 'server.*' -exec cat {} +`: what it finds is handed on. */
function findsToAct({ args, feeds }: SimpleCommand): boolean {
  return (
    args.some(({ text }) => /^-(?:exec|execdir|ok|okdir|delete|fprint\w*|fls)$/.test(text)) ||
    feeds.some(({ program }) => program === "xargs" || program === "parallel")
  );
}

/** Options that take a list of names, or lines, out of a file: what is no name is told in the error. */
const LISTS =
  /^--(?:files0?-from|from-file|to-file|exclude-from|include-from|input-file|name-list|magic-file|check|reference-file)(?:=|$)/;
const SHORT_LISTS: Readonly<Record<string, RegExp>> = {
  file: /^-[a-z]*f$/,
  tar: /^-[a-zA-Z]*[TX]$/,
  grep: /^-[a-zA-Z]*f$/,
  egrep: /^-[a-zA-Z]*f$/,
  fgrep: /^-[a-zA-Z]*f$/,
  rg: /^-[a-zA-Z]*f$/,
  du: /^-[a-zA-Z]*X$/,
  unzip: /^-[a-z]*P$/,
  diff: /^-[a-zA-Z]*X$/,
};

/** `wc --files0-from=KEYS`, `file -f KEYS`, `tar -T <(echo KEY)`: the file is read for names, not looked at. */
function takesNamesFrom({ program, args }: SimpleCommand): ShellWord | undefined {
  const short = Object.hasOwn(SHORT_LISTS, program) ? SHORT_LISTS[program] : undefined;
  return args.find((word, index) => {
    const before = args[index - 1]?.text ?? "";
    const isList =
      LISTS.test(word.text) || (LISTS.test(before) && !before.includes("=")) || short?.test(before) === true;
    if (!isList) return false;
    const printed = (word.outputs ?? []).flatMap((command) => command.args);
    return [word, ...printed].some((one) =>
      pathsIn(one).some((path) => isKeyPlace(path) || isHermesOwn(path)),
    );
  });
}

/** `yq -n 'load_str("KEY")'`: the script of a filter opens files of its own. */
function loadsInScript({ program, args }: SimpleCommand): ShellWord | undefined {
  if (!/^(?:yq|jq|gojq|jaq|dasel)$/.test(program)) return undefined;
  return args.find(
    (word) =>
      /\b(?:load\w*|input_filename|import|include)\b/.test(word.text) && pathsIn(word).some(isKeyPlace),
  );
}

/** Verbs of git for which keys are what they log in with, or that only name files. */
const GIT_PASSES = names(
  "config clone remote status log check-ignore check-attr ls-files ls-remote push pull fetch submodule rev-parse credential help",
);

/** `git diff --no-index A KEY`, `git hash-object KEY`, `git commit -F KEY`, `git -C ~ grep --no-index x .ssh`. */
function gitReads({ args }: SimpleCommand): ShellWord | undefined {
  const at = args.findIndex(
    ({ text }, index) => !text.startsWith("-") && !/^-[Cc]$/.test(args[index - 1]?.text ?? ""),
  );
  const folder = args.findLast((_, index) => index < at && args[index - 1]?.text === "-C");
  const verb = args[at]?.text ?? "";
  const isFile = (index: number): boolean =>
    /^-[a-zA-Z]*[Ff]$|^--(?:file|blob|contents)$/.test(args[index - 1]?.text ?? "");
  return args.find((word, index) => {
    if (index <= at || (GIT_PASSES.has(verb) && !isFile(index))) return false;
    if (/\s/.test(word.text) && PROSE.test(args[index - 1]?.text ?? "") && !isFile(index)) return false;
    const paths = pathsIn(word);
    if (paths.some(isKeyPlace)) return true;
    if (folder === undefined || /^[-/~]/.test(word.text)) return false;
    return isKeyPlace({ ...word, text: `${folder.text}/${word.text}` });
  });
}

/** `bash -nv KEY` prints what it reads, `tmux load-buffer KEY` keeps it to be shown. */
function opensKey({ program, args }: SimpleCommand): ShellWord | undefined {
  if (isShell(program))
    return args.some(({ text }) => /^-[a-z]*c$/.test(text)) ? undefined : args.slice(0, 8).find(isKeyPlace);
  if (!/^(?:tmux|byobu|screen|zellij)$/.test(program)) return undefined;
  return args.find(
    (word, index) =>
      /^(?:load-?b\w*|loadb|readbuf|source(?:-file)?|-X)$/.test(args[index - 1]?.text ?? "") &&
      isKeyPlace(word),
  );
}

/** Programs whose input is told to people, kept or shown as it is. */
const CARRIES_TEXT = names(
  "mail mailx mutt neomutt sendmail msmtp swaks gh glab pbcopy xclip xsel wl-copy llm claude codex gemini aider ollama sgpt " +
    "chatgpt patch sponge shellcheck hadolint prettier markdownlint cmark glow mdcat aspell hunspell logger wall write at batch " +
    "crontab notify-send fzf sk dmenu rofi gum dialog whiptail tr wall vipe ts pv sed-i html2text w3m lynx json_pp xq tidy",
);

/** `m4 <<< 'include(KEY)'`, `soelim <<< '.so KEY'`: what a program is told in its input leads there. */
function toldInInput(command: SimpleCommand): ShellWord | undefined {
  const { program, input } = command;
  if (input.kind !== "text" || CARRIES_TEXT.has(program) || onlyOpens(program)) return undefined;
  if (inlineCode(command) !== undefined) return undefined;
  return pathsIn(input.text).some(isKeyPlace) ? input.text : undefined;
}

/** Keys in the hands of a program nobody knows. */
const touchesKeys: Condition = ({ command }) => {
  const { program } = command;
  if (program === "" || program.includes(" ")) return undefined;
  if (LOOKS.has(program)) return takesNamesFrom(command) ?? loadsInScript(command);
  if (program === "git") return gitReads(command);
  if (KEY_USERS.has(program)) return undefined;
  return leads(command, isKeyPlace) ?? opensKey(command) ?? toldInInput(command);
};

/** A whole text of a program that is a path in a home or of the system. */
const PATH_TEXT = /["'`](?:file:)?((?:~|\/(?:root|home|Users|etc)\b)\/?[^"'`\s]*)["'`]/g;
const HOME_TEXT = /(~\/[^"'`\s,)]*)/g;
const OPENS_FILES =
  /(?:^|\W)(?:open|read\w*|connect|copy\w*|copytree|i?glob|listdir|scandir|walk|iterdir|load\w*|File|IO|Dir|slurp|fopen|file_get_contents|DatabaseSync)\b/;

/** The programs that a command is given, in its words or on standard input. */
function codeOf(command: SimpleCommand): readonly ShellWord[] {
  const code = inlineCode(command);
  const { input } = command;
  return code?.fromInput === true && input.kind === "text"
    ? [...code.texts, input.text]
    : (code?.texts ?? []);
}

/** Code that goes through a store of keys, however it opens what it finds there. */
const codeOpensKeys: Condition = ({ command }) =>
  codeOf(command).find((word) => {
    const { text } = word;
    if (
      text.length > LONGEST_CODE ||
      !/~|HOME|home|\/root|\/etc|\/Users/.test(text) ||
      !OPENS_FILES.test(text)
    )
      return false;
    if (keysBelowHome(text)) return true;
    const home = withHome(text);
    const found = [...text.matchAll(PATH_TEXT), ...(home === text ? [] : home.matchAll(HOME_TEXT))];
    return found.some(([, path = ""]) =>
      isKeyPlace({ text: path.replace(/\?.*$/, ""), known: true, glob: /[*?[]/.test(path) }),
    );
  });

/** `for f in (".ssh/id_rsa", ".netrc"): open(join(home, f))`: names that are joined with the home one after the other. */
function keysBelowHome(code: string): boolean {
  return [...code.matchAll(/(?<=["'`[({\s,])\/?\.[a-z][\w.-]*(?:\/[\w.*-]+)*/g)]
    .slice(0, MOST_NAMES)
    .some(([name]) =>
      isKeyPlace({ text: `~/${name.replace(/^\//, "")}`, known: true, glob: name.includes("*") }),
    );
}
const MOST_NAMES = 64;
const LONGEST_CODE = 20_000;

/** Programs that show, check or open a start-up file; those that write one are known to the rules about writing. */
const READS_STARTUP = names(
  "shellcheck shfmt bashate code code-insiders subl open xdg-open gedit kate fzf chezmoi yadm dotbot systemctl systemd-analyze " +
    "desktop-file-validate plutil launchctl fish_indent prettier stylua luacheck highlight pygmentize ctags aspell codespell " +
    "meld kdiff3 vimdiff delta difft docker podman kubectl gh glab hub bash zsh sh fish dash ksh time watch entr " +
    "defaults vim vi nvim nano emacs micro helix hx kak ed ex",
);
const EDITORS = /^(?:vim|vi|nvim|emacs|ed|ex)$/;

/** `gio copy x ~/.config/autostart/x`, `desktop-file-install --dir=…`, `ansible -a 'path=~/.profile …'`. */
const touchesStartup: Condition = ({ command }) => {
  const { program } = command;
  if (program === "" || program.includes(" ") || LOOKS.has(program) || KEY_USERS.has(program))
    return undefined;
  const isLasting = (path: ShellWord): boolean => /^[~/\uFFFC]/.test(path.text) && isStartupFile(path);
  if (!READS_STARTUP.has(program)) return leads(command, isLasting);
  // Orders given to an editor: `vim -c 'call writefile(…, $HOME."/.profile")'`.
  return EDITORS.test(program)
    ? command.args.find((word) => /[\s(]/.test(word.text) && pathsIn(word).some(isLasting))
    : undefined;
};

/** Sockets through which an engine, a bus or an editor is told what to run: `nc -U /run/docker.sock`. */
const touchesSocket: Condition = ({ command }) => {
  const { program } = command;
  if (program === "" || program.includes(" ") || LOOKS.has(program) || KEY_USERS.has(program))
    return undefined;
  return leads(command, (path) => /^[~/]/.test(path.text) && isControlSocket(path));
};

// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("protected", [
  { program: "*", when: touchesOwn, rule: "agent.own-files",
    reason: "hands the files of this runtime to a program that may change or show them",
    match: ["xmllint --output ~/.hermes/config.yaml a.xml", "sqlite3 x.db '.once ~/.hermes/config.yaml' 'select 1'",
      "git diff --output=~/.hermes/config.yaml", "git archive -o ~/.hermes/tools/x.tar HEAD",
      "git clone https://x.example/y ~/.hermes/plugins/y", "cmake -E copy a ~/.hermes/config.yaml",
      "find ~/.hermes -name 'server.*' -exec cat {} + | rev"],
    not_match: ["git log -- .hermes/config.yaml", "find ~/.hermes -name '*.log'",
      "git commit -m 'read ~/.hermes/config.yaml first'", "python3 x.py ~/.hermes/cache/spillover/a.txt"] },
  { program: "*", when: touchesKeys, rule: "credentials.unknown-program",
    reason: "hands keys or tokens to a program that may show or change them",
    match: ["xmllint --noout ~/.aws/credentials", "cmake -E cat ~/.ssh/id_ed25519", "file -f ~/.netrc",
      "wc --files0-from=$HOME/.netrc", "tar cf a.tar -T <(echo ~/.ssh/id_rsa)", "git diff --no-index /dev/null ~/.ssh/id_rsa",
      "git commit -qF ~/.netrc", "git -C ~ grep --no-index x .ssh", "bash -nv ~/.netrc", "tmux load-buffer ~/.netrc",
      'm4 <<< "include($HOME/.netrc)"', "make --eval='$(info $(file <$(HOME)/.netrc))'"],
    not_match: ["ssh -i ~/.ssh/id_ed25519 host", "kubectl --kubeconfig ~/.kube/config get pods",
      "git -c core.sshCommand='ssh -i ~/.ssh/id_x' fetch", "wc -c ~/.ssh/id_ed25519", "file ~/.ssh/id_rsa"] },
  { program: "*", when: codeOpensKeys, rule: "credentials.read", reason: "goes through a place that holds keys or tokens",
    match: ["python3 -c \"import glob,os;print([open(f).read() for f in glob.glob(os.path.expanduser('~/.aws/*'))])\"",
      "node -e \"console.log(require('fs').readdirSync(process.env.HOME+'/.ssh'))\""],
    not_match: ["python3 -c \"import os;print(os.path.exists(os.path.expanduser('~/.ssh/id_rsa')))\""] },
  { program: "*", when: touchesStartup, rule: "persistence.startup",
    reason: "hands a file that a shell or desktop starts with to a program that may change it",
    match: ["gio copy x.desktop ~/.config/autostart/x.desktop", "vim -es -c 'call writefile([1],$HOME.\"/.profile\")' -c q"],
    not_match: ["shellcheck ~/.bashrc", "ls ~/.config/autostart"] },
  { program: "*", when: touchesSocket, rule: "container.socket",
    reason: "talks to a program outside of any boundary, which runs what it is told",
    match: ["nc -U /run/docker.sock", "socat - UNIX-CONNECT:/var/run/docker.sock"], not_match: ["ls -l /run/docker.sock"] },
]);
