/** Names below a home folder. A name stands for the file or for the folder with everything in it. */

const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");

/** Hold credentials: reading them is asked about too. */
export const HOME_CREDENTIALS: ReadonlySet<string> = new Set([
  ...words(`
  .ssh .aws .gnupg .kube .docker .azure .oci .ibmcloud .aliyun .config/gh .config/hub .config/gcloud
  .config/op .config/rclone .config/doctl .config/heroku .config/sops .config/github-copilot .config/git/credentials
  .netrc _netrc .pgpass .my.cnf .mylogin.cnf .npmrc .yarnrc .yarnrc.yml .pypirc .git-credentials .vault-token
  .terraformrc .terraform.d/credentials.tfrc.json .s3cfg .boto .databrickscfg .snowflake .fly .password-store
  .cargo/credentials .cargo/credentials.toml .gem/credentials .bundle/config .composer/auth.json
  .config/composer/auth.json .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .nuget/nuget.config
  .huggingface/token .cache/huggingface/token .kaggle .claude/.credentials.json .claude.json .codex/auth.json
  .gemini/oauth_creds.json .local/share/keyrings .config/kwalletd .local/share/kwalletd .mozilla/firefox
  .config/google-chrome .config/chromium .config/bravesoftware .thunderbird .electrum .bitcoin .ethereum
  library/keychains
  `),
  "library/application support/google/chrome",
  "library/application support/firefox",
]);

/** Run or obeyed later by shells, desktops, schedulers and other programs of the person. */
export const HOME_STARTUP: ReadonlySet<string> = new Set(
  words(`
  .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_completion .profile .zshrc .zprofile .zshenv
  .zlogin .zlogout .zsh .oh-my-zsh .kshrc .mkshrc .cshrc .tcshrc .login .logout .shrc .inputrc .xinitrc .xprofile
  .xsession .xsessionrc .xserverrc .pam_environment .config/fish .config/zsh .config/environment.d
  .config/systemd .local/share/systemd .config/autostart .config/autostart-scripts .config/plasma-workspace
  .config/upstart .config/cron .local/share/applications .local/share/dbus-1 library/launchagents
  .gitconfig .config/git .hgrc .vimrc .gvimrc .exrc .vim .config/nvim .emacs .emacs.d .config/emacs .nanorc
  .tmux.conf .config/tmux .screenrc .gdbinit .config/gdb .lldbinit .irbrc .pryrc .pythonrc .pythonrc.py .rprofile
  .sqliterc .psqlrc .curlrc .wgetrc .config/pip .pip .cargo/config .cargo/config.toml .gradle/init.gradle .gradle/init.d
  .mailcap .forward .procmailrc .rhosts .shosts .direnvrc .config/direnv .vscode/extensions .vscode-server
  .config/code/user .claude/settings.json .claude/hooks .codex/config.toml .cursor/mcp.json .gemini/settings.json
`),
);

/** Trees of the operating system, below the root. */
export const SYSTEM_FOLDERS: ReadonlySet<string> = new Set(
  words(`
  etc boot usr bin sbin lib lib32 lib64 libx32 opt sys proc dev efi system library var/spool/cron var/spool/at
  var/spool/anacron var/lib private/etc private/var/db
`),
);

/** Devices whose writing changes nothing. */
export const QUIET_DEVICES = new Set(words("/dev/null /dev/zero /dev/full /dev/tty /dev/stdout /dev/stderr"));

/** File names that hold secrets wherever they are. */
export const SECRET_NAMES = new Set(
  words(`
    .env .envrc .netrc _netrc .pgpass .git-credentials .htpasswd id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519
    id_ed25519_sk identity.key .vault-token .vault_pass credentials.tfrc.json
  `),
);

/** Endings of `.env.…` that hold examples and no secrets. */
export const ENV_EXAMPLES = new Set(words("example examples sample template dist defaults schema"));

/** Project files that other programs run without asking again: folder and name. */
export const PROJECT_RUNNERS: readonly (readonly [folder: string, names: readonly string[]])[] = [
  [".vscode", ["tasks.json", "settings.json", "launch.json", "extensions.json", "mcp.json"]],
  [".cursor", ["mcp.json", "settings.json"]],
  [".claude", ["settings.json", "settings.local.json", "hooks"]],
  [".devcontainer", ["devcontainer.json"]],
  [".husky", []],
  [".githooks", []],
  [".circleci", []],
  [".buildkite", []],
];

/** The same, by their own name. */
export const PROJECT_RUNNER_NAMES = new Set(
  words(
    ".envrc .mcp.json .devcontainer.json .gitlab-ci.yml jenkinsfile authorized_keys authorized_keys2 crontab",
  ),
);
