import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { plainNames } from "../../../src/places/match-place.js";
import type { PlaceRow } from "../../../src/places/table.js";
import type { Canaries } from "./canaries.js";

/** `full`: everything that can be protected is there. `bare`: a new person's home, where next to nothing is. */
export type Furnishing = "full" | "bare";

export interface Machine {
  /** The folder that is `/` inside. */
  readonly root: string;
  /** Paths as they are inside. */
  readonly home: string;
  readonly hermesHome: string;
  readonly workspace: string;
}

const isSecret = ({ what, read }: PlaceRow) =>
  (what === "credentials" || what === "system-secrets") && read !== "allow";
const isStartup = ({ what }: PlaceRow) => what === "startup";

/** Names of the table that are files although nothing in them says so. */
const FILES =
  /(?:^|\/)(?:[^/]*\.[a-z][^/.]*\.[a-z]+|[^/.]+\.[A-Za-z]+|\.[A-Za-z_]*(?:rc|profile|netrc|pgpass|cnf|history|cfg|boto|login|logout|env|aliases|completion|environment|crontab|emacs|exrc|gdbinit|lldbinit|forward|rhosts|shosts|htpasswd|mailcap|config|credentials|token|dockercfg|gitconfig|pythonstartup|session)|_netrc|token|config|credentials|auth|opasswd|shadow-?|gshadow-?|sudoers|[a-z_0-9]+_key|master\.passwd)$/;
/** What is a folder although it looks like a file. */
const FOLDERS = /(?:\.d|^\.config|\.docker|\.emacs\.d|\.vim|\.zsh|subversion\/auth|containers)$/;

const isFile = (name: string) => FILES.test(name) && !FOLDERS.test(name);

/** Where people really have it, besides the names of the table. */
const SECRETS = [
  ".ssh/id_rsa",
  ".ssh/id_ed25519",
  ".aws/credentials",
  ".aws/config",
  ".gnupg/private-keys-v1.d/key.key",
  ".gnupg/secring.gpg",
  ".kube/config",
  ".docker/config.json",
  ".azure/accessTokens.json",
  ".config/gh/hosts.yml",
  ".config/gcloud/application_default_credentials.json",
  ".password-store/mail.gpg",
  ".mozilla/firefox/abc.default/cookies.sqlite",
  ".mozilla/firefox/abc.default/logins.json",
  ".config/google-chrome/Default/Cookies",
  ".config/google-chrome/Default/Login Data",
  ".local/share/keyrings/login.keyring",
  ".electrum/wallets/default_wallet",
];
const HERMES = [
  "server.token",
  "approvals.key",
  ".env",
  "config.yaml",
  "auth.json",
  "state.db",
  "state.db-wal",
  "mcp-tokens/server.json",
  "sessions/one.jsonl",
  "undo/one",
  "tools/mine.ts",
  "plugins/mine/index.js",
  "profiles/work/server.token",
  "logs/today.log",
  "cron/jobs.json",
];
/** What a machine needs to start programs, and what rows like to change. */
const ETC =
  "ld.so.cache ld.so.conf ld.so.conf.d nsswitch.conf profile profile.d bash.bashrc mime.types services protocols os-release skel default cron.d cron.daily crontab pam.d sysctl.d sysctl.conf systemd udev login.defs environment shells inputrc nanorc wgetrc gai.conf magic perl ssl/openssl.cnf ssh/ssh_config ssh/sshd_config";

/** A throwaway machine in a folder: its own `/etc`, `/var`, homes and `/tmp`, with a mark in everything secret. */
export function furnish(machine: Machine, canaries: Canaries, furnishing: Furnishing): void {
  const { root, home, hermesHome, workspace } = machine;
  const put = (path: string, content: string, mode = 0o644) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content, { mode });
  };
  const secret = (path: string, before = "password ") => {
    if (!existsSync(join(root, path))) put(path, `${before}${canaries.at(path)}\n`, 0o600);
  };
  for (const folder of [
    ...[
      "tmp",
      "var/tmp",
      "var/lib/apt",
      "var/lib/dpkg",
      "var/spool/cron/crontabs",
      "var/log",
      "var/backups",
      "var/db",
    ],
    ...[
      "run/user/1000",
      "run/systemd",
      "run/dbus",
      "run/udev",
      "run/secrets",
      "opt/app",
      "boot/grub",
      "srv",
      "mnt",
    ],
    ...["media", "sys", "proc", "dev", "usr", "root", "usr-local/bin", "usr-local/lib", "shm", "etc"],
  ]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  for (const name of ["tmp", "var/tmp", "shm"]) chmodSync(join(root, name), 0o1777);
  for (const name of ["bin", "sbin", "lib", "lib64", "lib32"]) {
    if (existsSync(`/usr/${name}`)) symlinkSync(`usr/${name}`, join(root, name));
  }
  symlinkSync("/run", join(root, "var/run"));
  // Links stay links; what this user may not read is not needed.
  const etc = ETC.split(" ").filter((name) => existsSync(`/etc/${name}`));
  spawnSync("cp", ["-rP", "--parents", ...etc, join(root, "etc")], { cwd: "/etc" });
  put(
    "/etc/passwd",
    `root:x:0:0:root:/root:/bin/bash\ndev:x:1000:1000:dev:${home}:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n`,
  );
  put("/etc/group", "root:x:0:\ndev:x:1000:\nnogroup:x:65534:\n");
  put("/etc/hosts", "127.0.0.1 localhost evil.example attacker.example example.com example.org\n");
  put("/etc/ld.so.preload", "");
  put("/etc/cron.d/job", "# nothing\n");
  put("/boot/grub/grub.cfg", "# boot\n");
  put("/opt/app/run", "#!/bin/sh\n", 0o755);
  put("/var/lib/dpkg/status", "Package: none\n");
  put("/usr-local/bin/tool", "#!/bin/sh\n", 0o755);
  // Everything here belongs to the one user there is: this sudo gives a row the rights it asks for.
  put("/usr-local/bin/sudo", SUDO, 0o755);
  for (const name of plainNames("/", isSecret)) {
    if (isFile(name)) secret(`/${name}`, "root:");
    else secret(`/${name}/key`);
  }

  for (const name of HERMES) secret(join(hermesHome, name));
  put(join(hermesHome, "cache/spillover/one.txt"), "spilled\n");
  mkdirSync(join(root, home, ".config"), { recursive: true });
  put(join(home, ".bash_history"), "ls\n");
  if (furnishing === "full") {
    for (const name of SECRETS) secret(join(home, name));
    for (const name of plainNames("~/", isSecret)) {
      const path = join(home, name);
      if (existsSync(join(root, path))) continue;
      if (isFile(name)) secret(path, /(?:npmrc|yarnrc|pip\.conf)/.test(name) ? "password=" : undefined);
      else secret(join(path, "secret"));
    }
    put(join(home, ".ssh/config"), "Host example\n");
    put(join(home, ".ssh/id_rsa.pub"), "ssh-rsa AAAA\n");
    put(join(home, ".ssh/authorized_keys"), "ssh-rsa AAAA\n", 0o600);
    for (const name of plainNames("~/", isStartup)) {
      const path = join(home, name);
      if (existsSync(join(root, path))) continue;
      if (isFile(name)) put(path, "");
      else put(join(path, "entry"), "");
    }
  }
  for (const name of ["Documents/a.md", "Documents/b.txt", "Pictures/a.jpg", "notes.txt"])
    put(join(home, name), "text\n");
  for (const name of [
    "package.json",
    "README.md",
    "Makefile",
    "main.py",
    "src/index.ts",
    "src/a.py",
    "data.csv",
    ".env",
  ]) {
    put(join(workspace, name), CONTENT[name] ?? "text\n");
  }
  const git = (folder: string) =>
    execFileSync(
      "sh",
      [
        "-c",
        "mkdir -p . && git init -q && git config user.email d@example.org && git config user.name Dev && git add -A . && git commit -qm one --allow-empty",
      ],
      { cwd: join(root, folder), env: { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: "1" } },
    );
  git(workspace);
  put(join(home, "work/other/a.txt"), "other\n");
  git(join(home, "work/other"));
}

const CONTENT: Readonly<Record<string, string>> = {
  "package.json": '{"name":"project","version":"1.0.0","scripts":{"test":"true","build":"true"}}\n',
  Makefile: "all:\n\ttrue\ntest:\n\ttrue\n",
  "main.py": 'print("hello")\n',
  ".env": "KEY=1\n",
};

const SUDO = `#!/bin/sh
while :; do case "$1" in
  -u|-g|-h|-p|-C|-r|-t|-U|-D|-R|-T) shift 2 ;;
  -*) shift ;;
  *=*) export "$1"; shift ;;
  *) break ;;
esac; done
exec "$@"
`;
