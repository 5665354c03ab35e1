import type { ShellWord } from "../types.js";
import { commonNames } from "./environment-variables.js";
import {
  isAgentSettings,
  isBlockDevice,
  isBuildRecipe,
  isCredentialFile,
  isCredentialStore,
  isDownloadPlace,
  isGitHook,
  isHermesOwn,
  isHomeLike,
  isKeyFile,
  isProjectSecret,
  isRootLike,
  isSomeonesHome,
  isStartupFile,
  isSystemConfig,
  isSystemPath,
} from "./places.js";
import { type Condition, subject } from "./row.js";
import { inHome, isAnchored, placeOf } from "./segments.js";
import { type Write, writesOf } from "./writes.js";

const SCHEDULES = "changes what the machine runs by itself later";
const SCHEDULE = "persistence.schedule";

/** A file that a command writes in any way: by a redirection, as its output, in place. */
const writes =
  (isTarget: (word: ShellWord, write: Write) => boolean): Condition =>
  ({ command }) =>
    writesOf(command).find((write) => isTarget(write.word, write))?.word;
/** The same, when the content changes. */
const changes = (isTarget: (word: ShellWord, write: Write) => boolean): Condition =>
  writes((word, write) => write.how !== "touch" && isTarget(word, write));

function isMachineStop(word: ShellWord): boolean {
  const { anchor, segments } = placeOf(word);
  return anchor === "root" && segments[0] === "proc" && segments.at(-1) === "sysrq-trigger";
}

/** `~/.local/bin/ls`, `~/bin/git`: found before the real program. */
function isCommonProgram(word: ShellWord): boolean {
  const rest = inHome(word);
  if (rest === undefined || rest.length < 2 || rest.length > 3) return false;
  return (
    /^(?:\.local\/bin|bin|\.bin)$/.test(rest.slice(0, -1).join("/")) && commonNames.has(rest.at(-1) ?? "")
  );
}

/** Folders of a home in which programs keep what they can make or fetch again, or data of their own. */
const KEPT_BY_PROGRAMS =
  /^\.(?:cache|local|npm|rustup|trash|venv\w*|virtualenvs|pyenv|nvm|rbenv|asdf|node-gyp|ollama|minikube|vagrant\.d|android|hermes|git|gradle\/caches|m2\/repository|cargo\/(?:registry|bin|git))(?:\/|$)|\/(?:cache|logs?|tmp|history|sessions?)\//;
/** What of it desktops and editors run all the same. */
const RUN_FROM_DATA =
  /^\.local\/share\/(?:kservices|.+\/(?:scripts?|plugins?|extensions?|autostart|services?)\/)/;
/** Other folders hold data too; these names are read, and often run, at the start. */
const SETTINGS =
  /(?:^|[/._-])(?:config|conf|cfg|startup|init|rc|profile|settings|hooks?|plugins?|scripts?|autoload|extensions?|services?)|rc$|\.(?:py|jl|lua|el|[cm]?js|rb|vim|conf|cfg|ini|toml|ya?ml|json|sh|scm|desktop|rules)$/;

/** `~/.config/sway/config`, `~/.dir-locals.el`, `~/.julia/config/startup.jl`: no list of such files is ever complete. */
function isHomeSetting(word: ShellWord, { how }: Write): boolean {
  if (how === "many" || !isAnchored(word) || placeOf(word).anchor === "unknown") return false;
  const rest = inHome(word) ?? [];
  const path = rest.join("/");
  if (RUN_FROM_DATA.test(path)) return true;
  if (!/^\.[^.]/.test(path) || KEPT_BY_PROGRAMS.test(path)) return false;
  if (/[._-](?:bak|backup|old|orig|copy|save|\d+|\uFFFC)$|~$/.test(path)) return false;
  return rest.length === 1 || rest[0] === ".config" ? path !== ".config" : SETTINGS.test(path);
}

/** A project's `.env` and `config.yaml`. Copies of them, and filling them from a template, are everyday. */
function isProjectSettings(word: ShellWord, { how, from }: Write): boolean {
  if (how === "inside") return false;
  const { anchor, segments } = placeOf(word);
  const name = segments.at(-1) ?? "";
  if (/[._-](?:bak|backup|old|orig|copy|save|test|ci|\d+|\uFFFC)$/.test(name)) return false;
  if (isProjectSecret(word))
    return !(from !== undefined && /\.(?:example|sample|template|dist|tmpl|defaults?)$/i.test(from.text));
  return anchor === "here" && segments.length === 1 && /^config\.ya?ml$/.test(name);
}

/** Settings of `ssh` that start a program on this side. */
const SSH_PROGRAM =
  /^(?:-o)?\s*(?:proxycommand|localcommand|knownhostscommand|permitlocalcommand|pkcs11provider|securitykeyprovider)\s*[= ]\s*(?!none\s*$|no\s*$)/i;
const sshProgram: Condition = ({ args }) =>
  args.find(
    ({ text }, index) => (text.startsWith("-o") || args[index - 1]?.text === "-o") && SSH_PROGRAM.test(text),
  );
const sshSettings: Condition = ({ args }) =>
  args.find((word, index) => {
    if (args[index - 1]?.text === "-F")
      return isDownloadPlace(word) || /^\/(?:dev|proc\/self)\/fd\//.test(word.text);
    return word.text.startsWith("-F") && isDownloadPlace({ ...word, text: word.text.slice(2) });
  });

/** Files and schedules that somebody trusted reads and runs later, and the system's own files. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("persistence", [
  { program: "*", when: writes(isMachineStop), level: "hardline", rule: "power.trigger",
    reason: "tells the kernel to stop or restart the machine", match: ["tee /proc/sysrq-trigger"] },
  { program: "*", when: writes((word) => !isBlockDevice(word) && isSystemConfig(word)),
    rule: "system.config", reason: "writes to the settings of the operating system", match: ["ls &> /etc/x"] },
  { program: "*", when: writes((word) => !isBlockDevice(word) && isSystemPath(word)), rule: "system.files",
    reason: "writes into the folders of the operating system", match: ["cp a b c /usr/lib"] },
  { program: "*", when: writes((word) => !isBlockDevice(word) && isRootLike(word)), rule: "system.files",
    reason: "writes over the root of the file system", match: ["tar xzf x.tgz -C /"] },
  { program: "*", when: changes(isStartupFile), rule: "persistence.startup",
    reason: "changes a file that a shell or desktop starts with", match: ["tee -a ~/.bashrc"] },
  { program: "*", when: writes((word, { how }) => how === "many" && (isHomeLike(word) || isSomeonesHome(word))),
    rule: "persistence.startup", reason: "fills a home with files that nobody named, start-up files perhaps among them",
    match: ["tar xf a.tar -C ~", "unzip a.zip -d ~", "patch -d ~ -p1 < a.diff", "git --work-tree=$HOME checkout -f", "cp -r x/. ~"],
    not_match: ["tar xf a.tar -C ~/.local", "unzip a.zip -d ~/src/a", "cp a.txt ~/"] },
  // A second copy of a key changes who may enter nowhere.
  { program: "*", when: changes(
        (word, { from }) =>
          isCredentialStore(word) || (isKeyFile(word) && !(from !== undefined && isCredentialFile(from))),
      ),
    rule: "persistence.credentials", reason: "writes among keys and tokens", match: ["cp -r x/. ~/.ssh"] },
  { program: "*", when: changes(isGitHook), rule: "persistence.git-hook",
    reason: "changes what git runs by itself", match: ["tee repo/.git/config"] },
  { program: "*", when: changes(isHermesOwn), rule: "agent.own-files",
    reason: "changes the settings or rules of this runtime", match: ["cat > ~/.hermes/.env <<< x"] },
  { program: "*", when: changes(isAgentSettings), rule: "persistence.editor",
    reason: "changes what an editor or agent runs or obeys by itself", match: ["cp x.json .vscode/tasks.json"] },
  { program: "*", when: changes(isCommonProgram), rule: "env.alias",
    reason: "puts another command behind a common name", match: ["mv x ~/bin/git"] },
  { program: "*", when: (call) => (call.command.program === "git" ? undefined : changes(isHomeSetting)(call)), rule: "persistence.settings",
    reason: "changes the settings a program of this person starts with",
    match: ["echo x >> ~/.config/sway/config", "cp a.jl ~/.julia/config/startup.jl", "echo x > ~/.dir-locals.el"],
    not_match: ["cat ~/.config/sway/config", "cp ~/.vimrc ~/.vimrc.bak", "echo 1 > ~/.cache/a/state", "cp tool ~/.local/bin/tool"] },
  { program: "*", when: changes(isBuildRecipe), rule: "persistence.build",
    reason: "changes what a build server runs by itself", match: ["tee Jenkinsfile < x"] },
  { program: "*", when: changes(isProjectSettings), rule: "persistence.project-settings",
    reason: "changes the settings or secrets of the project", match: [": > .env"] },
  { program: "crontab|fcrontab|incrontab", taking: "u x", dry: "V",
    when: (call) => call.has("l") && !call.has("r") ? undefined : { word: call.operands[0] ?? call.args[0] },
    rule: SCHEDULE, reason: SCHEDULES, match: ["crontab"], not_match: ["crontab -l"] },
  { program: "at", taking: "f q t", word: /./,
    when: (call) => !call.has("l", "c", "V") || call.has("r", "d"), rule: SCHEDULE, reason: SCHEDULES,
    match: ["at -f x.sh now"], not_match: ["at -l"] },
  { program: "batch|atrm", rule: SCHEDULE, reason: SCHEDULES, match: ["batch"] },
  { program: "systemd-run", dry: "", word: /^--(?:on-|timer-property)/, rule: SCHEDULE, reason: SCHEDULES,
    match: ["systemd-run --user --on-active=1h ls"], not_match: ["systemd-run --user --scope make"] },
  { program: "systemd-run", dry: "help version", unless: /^(?:--user|-h)$/, word: /./, rule: "account.root", reason: "runs a command with the rights of root by another door than sudo",
    match: ["systemd-run -q --pty --uid=0 /bin/bash", "systemd-run -t sh"], not_match: ["systemd-run --user --scope make"] },
  { program: "supercronic|go-crond|ofelia|yacron|anacron|crond|cron|mcron|jobber|watchman|nssm|forever-service|dinitctl|immortal|immortalctl|runsvdir|svscan|god|gnome-session-properties|winsw|pleaserun|svscanboot|launchd|autorestart",
    unless: /^(?:--?help|-h|--version|list|status|watch-list|find|since|clock|version|get-sockname|-T)$/, word: /./, rule: SCHEDULE, reason: SCHEDULES, match: ["nssm install x a.exe", "watchman -- trigger . x '*.js' -- sh a", "anacron -f"], not_match: ["watchman watch-list"] },
  { program: "ssh-copy-id", unless: /^-(?:n|h|\?)$/, rule: "persistence.access",
    reason: "opens another machine to a key", match: ["ssh-copy-id host"] },
  { program: "ssh|scp|sftp|autossh", dry: "", rule: "run.hidden",
    not_match: ["scp host:/etc/hosts .", "scp -P 22 a web:/srv/a"], rows: [
    { when: sshSettings, reason: "takes settings, which can name programs, from a place anybody can write",
      match: ["ssh -F/tmp/evil.conf host", "ssh -F <(echo 'Match exec id') host"], not_match: ["ssh -G host"] },
    { when: sshProgram, reason: "runs a program named in an option",
      match: ["ssh -oProxyCommand=/tmp/x host"], not_match: ["ssh -T git@github.com"] },
  ] },
]);
