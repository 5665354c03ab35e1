import type { ShellWord } from "../types.js";
import { couldMatch, inHome, isOrdinary, placeOf, segmentIn, takesEverything } from "./segments.js";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const folders = (paths: readonly string[]) => paths.map((path) => path.split("/"));

const STARTUP_NAMES = words(
  ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin " +
    ".zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .shrc .xinitrc .xprofile .xsession .xsessionrc " +
    ".pam_environment .pythonrc .pythonrc.py .pythonstartup .inputrc .gitconfig .hgrc .vimrc .exrc .emacs " +
    ".gdbinit .irbrc .pryrc .rprofile .curlrc .wgetrc .screenrc .tmux.conf .crontab .forward .bash_env",
);
const STARTUP_FOLDERS = folders([
  ".config/git/config",
  ".config/git/attributes",
  ".config/fish",
  ".config/autostart",
  ".config/systemd/user",
  ".config/environment.d",
  ".config/nushell",
  ".config/zsh",
  ".config/bash",
  ".config/plasma-workspace/env",
  ".config/upstart",
  ".config/nvim",
  ".vim/plugin",
  ".vim/autoload",
  ".oh-my-zsh",
  ".local/share/systemd/user",
  ".local/share/dbus-1/services",
  "library/launchagents",
  "library/launchdaemons",
  ".kde/autostart",
  ".termux/boot",
  ".bashrc.d",
  ".profile.d",
  ".zshrc.d",
]);

const STORE_FOLDERS = folders([
  ".ssh",
  ".aws",
  ".gnupg",
  ".kube",
  ".azure",
  ".config/gcloud",
  ".config/gh",
  ".config/op",
  ".config/rclone",
  ".config/sops",
  ".config/hub",
  ".config/doctl",
  ".config/heroku",
  ".password-store",
  ".terraform.d",
  ".oci",
  ".local/share/keyrings",
  "library/keychains",
]);
const STORE_FILES = words(
  ".netrc _netrc .npmrc .yarnrc .yarnrc.yml .pypirc .git-credentials .pgpass .my.cnf .mylogin.cnf .vault-token .boto .s3cfg " +
    ".dockercfg .htpasswd .terraformrc .gem/credentials .cargo/credentials .cargo/credentials.toml " +
    ".docker/config.json .m2/settings.xml .gradle/gradle.properties .config/pip/pip.conf .pip/pip.conf " +
    ".subversion/auth .composer/auth.json .databrickscfg .snowsql/config .kaggle/kaggle.json " +
    ".huggingface/token .cache/huggingface/token .fly/config.yml .openai .anthropic .wallet .electrum",
);
const SECRET_NAMES =
  /^(?:id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|.*_(?:rsa|ed25519|ecdsa)|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|ovpn|asc\.key)|credentials(?:\.(?:json|csv|ini|yml|yaml))?|(?:client_)?secrets?\.(?:json|ya?ml|toml|env|txt)|service[-_]?account.*\.json|.*-sa(?:-key)?\.json|application_default_credentials\.json|\.htpasswd|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.my\.cnf|\.vault-token|kubeconfig|wallet\.dat|login data|cookies(?:\.sqlite)?|key[34]\.db|logins\.json|master\.key|.*\.token|.*\.tfstate|.*\.tfvars|token|tokens?\.json|auth\.json|passwords?\.(?:txt|csv)|\.secrets?)$/;
const SYSTEM_SECRETS = words(
  "shadow shadow- gshadow gshadow- sudoers sudoers.d krb5.keytab master.passwd security opasswd",
);
const EXAMPLE = /(?:^|[._-])(?:example|sample|template|dist|tmpl|tpl|defaults?|schema|enc|age|gpg|pub|md)$/;

/** A file a shell, desktop or tool reads and runs when it starts. */
export function isStartupFile(word: ShellWord): boolean {
  if (isOrdinary(word)) return /^launchagents\//i.test(word.text);
  const rest = inHome(word);
  if (rest !== undefined) {
    const [first] = rest;
    if (rest.length === 1 && segmentIn(first, STARTUP_NAMES)) return true;
    return liesIn(rest, STARTUP_FOLDERS);
  }
  const { anchor, segments } = placeOf(word);
  if (anchor === "here") {
    const [first] = segments;
    return (segments.length === 1 && segmentIn(first, STARTUP_NAMES)) || first === "launchagents";
  }
  return (
    anchor === "root" && segments[0] === "library" && /^launch(?:agents|daemons)$/.test(segments[1] ?? "")
  );
}

/** A place in a home that holds keys and tokens: reading it gives them away, writing it gives access. */
export function isCredentialStore(word: ShellWord): boolean {
  if (isOrdinary(word)) return false;
  const place = placeOf(word);
  const rest = inHome(word) ?? (place.anchor === "here" ? place.segments : undefined);
  if (rest === undefined || rest.length === 0) return false;
  if (place.anchor === "here") return rest[0] === ".ssh" || rest[0] === ".aws" || rest[0] === ".gnupg";
  return (
    liesIn(rest, STORE_FOLDERS) ||
    STORE_FILES.has(rest.slice(0, 2).join("/")) ||
    STORE_FILES.has(rest.join("/"))
  );
}

/** `.env` and its kin in a project; templates (`.env.example`) hold no secret. */
export function isProjectSecret(word: ShellWord): boolean {
  if (isOrdinary(word)) return false;
  const name = placeOf(word).segments.at(-1) ?? "";
  return /^\.env(?:rc)?(?:\..+)?$/.test(name) && !EXAMPLE.test(name);
}

/** Whatever holds secrets and should not leave the machine. Public keys and templates are not among them. */
export function isCredentialFile(word: ShellWord): boolean {
  const place = placeOf(word);
  const { anchor, segments } = place;
  const name = segments.at(-1) ?? "";
  if (name.endsWith(".pub") || /^(?:known_hosts|authorized_keys)/.test(name)) return false;
  if (isProjectSecret(word)) return true;
  if (isCredentialStore(word)) return !(inHome(word)?.[0] === ".ssh" && name === "config");
  if (anchor === "root" && segments[0] === "etc")
    return (
      segmentIn(segments[1], SYSTEM_SECRETS) ||
      /^ssh_host_.*_key$/.test(name) ||
      (segments[1] === "ssl" && segments[2] === "private")
    );
  if (anchor === "root" && segments[0] === "proc" && name === "environ") return true;
  if (anchor === "root" && segments[0] === "run" && segments[1] === "secrets") return true;
  if (place.glob && /[*?[]/.test(name)) return OFTEN_MEANT.some((meant) => isMeant(name, meant));
  return SECRET_NAMES.test(name) && !EXAMPLE.test(name);
}

const OFTEN_MEANT = "id_rsa id_ed25519 id_ecdsa .env .netrc .npmrc .pgpass .pypirc .git-credentials".split(
  " ",
);

/** At least three letters of the name are written out. */
function isMeant(pattern: string, name: string): boolean {
  return pattern.replace(/\[[^\]]*\]|[*?]/g, "").length >= 3 && isNamed(pattern, name);
}

/** The runtime's own state and rules: an agent that may write them may write its own permission. */
export function isHermesOwn(word: ShellWord): boolean {
  if (word.variables?.includes("HERMES_HOME") === true) return true;
  if (!/hermes/i.test(word.text)) return false;
  const { segments } = placeOf(word);
  const name = segments.at(-1) ?? "";
  return segments.includes(".hermes") || /^\.?hermes[_-]permissions\.ya?ml$/.test(name);
}

/** Files of other agents and editors that start programs when a folder is opened. */
export function isAgentSettings(word: ShellWord): boolean {
  if (isOrdinary(word)) return false;
  const path = placeOf(word).segments.join("/");
  return /(?:^|\/)(?:\.vscode\/(?:tasks|settings|launch)\.json|\.cursor\/(?:mcp\.json|hooks.*|rules.*)|\.claude\/(?:settings(?:\.local)?\.json|hooks.*)|\.mcp\.json|\.codex\/.*|\.gemini\/settings\.json|\.idea\/(?:workspace\.xml|runconfigurations.*)|\.envrc)$/.test(
    path,
  );
}

/** What a build server runs by itself once it is pushed. */
export function isBuildRecipe(word: ShellWord): boolean {
  const { segments } = placeOf(word);
  const name = segments.at(-1) ?? "";
  if (
    /^(?:\.gitlab-ci\.ya?ml|jenkinsfile|\.travis\.yml|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|\.drone\.yml|\.woodpecker\.ya?ml|appveyor\.yml|cloudbuild\.ya?ml|\.devcontainer\.json)$/.test(
      name,
    )
  )
    return true;
  return segments.some(
    (part, index) =>
      (part === ".github" &&
        /^(?:workflows|actions)$/.test(segments[index + 1] ?? "") &&
        segments.length > index + 2) ||
      (/^\.(?:circleci|buildkite|woodpecker|gitea|forgejo)$/.test(part) && segments.length > index + 1) ||
      (part === ".devcontainer" && name === "devcontainer.json"),
  );
}

const GIT_TRUSTED = words("hooks config modules");

/** Programs git starts by itself, and the settings that name them. */
export function isGitHook(word: ShellWord): boolean {
  if (isOrdinary(word)) return false;
  const { segments } = placeOf(word);
  const git = segments.lastIndexOf(".git");
  if (git >= 0) {
    const next = segments[git + 1];
    return segmentIn(next, GIT_TRUSTED) || (next === "info" && segments[git + 2] === "attributes");
  }
  return segments.includes(".husky") || segments.includes(".githooks");
}

/** Where shells keep what was typed. */
export function isHistoryFile(word: ShellWord): boolean {
  if (isOrdinary(word)) return false;
  const name = placeOf(word).segments.at(-1) ?? "";
  return !takesEverything(name) && segmentIn(name, HISTORIES);
}
const HISTORIES = words(
  ".bash_history .zsh_history .zhistory .history .sh_history .ksh_history .histfile fish_history " +
    ".python_history .psql_history .mysql_history .node_repl_history .rediscli_history .sqlite_history " +
    ".bash_sessions .zsh_sessions",
);

/** Whether a segment is this name, or a pattern made for it: `.ss?`. One that takes nearly everything is not. */
function isNamed(segment: string, name: string): boolean {
  if (segment === name) return true;
  if (!/[*?[]/.test(segment) || segment.length > 64) return false;
  return (
    segment.replace(/\[[^\]]*\]|[*?]/g, "").length >= 2 && segment[0] === name[0] && couldMatch(segment, name)
  );
}

function liesIn(rest: readonly string[], trees: readonly (readonly string[])[]): boolean {
  return trees.some(
    (parts) => parts.length <= rest.length && parts.every((part, index) => isNamed(rest[index] ?? "", part)),
  );
}
