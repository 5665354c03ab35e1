import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Mount } from "./mounts.js";
import { realPath } from "./real-path.js";

/** Below the home folder: keys, tokens, password stores, browser profiles and shell histories. */
const IN_HOME = [
  ".ssh .aws .gnupg .kube .docker .azure .oci .password-store .mozilla .thunderbird .terraform.d .hermes",
  ".config/gh .config/glab-cli .config/gcloud .config/op .config/rclone .config/hub .config/doctl",
  ".config/containers .config/heroku .config/google-chrome .config/chromium .config/BraveSoftware",
  ".config/git/credentials .local/share/keyrings .local/share/containers/auth.json .local/share/kwalletd",
  ".netrc .pgpass .my.cnf .npmrc .yarnrc.yml .pypirc .git-credentials .vault-token .s3cfg .boto .databrickscfg",
  ".cargo/credentials .cargo/credentials.toml .gem/credentials .composer/auth.json .m2/settings.xml",
  ".m2/settings-security.xml .nuget/NuGet/NuGet.Config .config/pip/pip.conf .pip/pip.conf",
  ".bash_history .zsh_history .python_history .psql_history .mysql_history .sqlite_history .node_repl_history",
]
  .join(" ")
  .split(" ");

/** Of the system; readable for root only, which is who might run this. */
const OF_SYSTEM = [
  ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d"],
  ["/etc/ssl/private", "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key"],
  ["/etc/ssh/ssh_host_ed25519_key", "/etc/krb5.keytab", "/etc/NetworkManager/system-connections"],
  ["/etc/wireguard", "/var/lib/docker", "/var/lib/containerd", "/var/spool/cron"],
].flat();

/**
 * Covers every credential store of the home folder that is there. What is not there cannot be made: the
 * folder is read-only. Most are not, so the folder is listed once instead of asking for each.
 */
export function homeMounts(home: string): readonly Mount[] {
  const names = namesIn(home);
  const present = IN_HOME.filter((path) => names.has(path.split("/")[0] ?? path));
  return coverAll(present.map((path) => join(home, path)));
}

export function systemMounts(): readonly Mount[] {
  return coverAll(OF_SYSTEM);
}

/** Covers what exists with nothing. */
export function coverAll(paths: readonly string[]): readonly Mount[] {
  return paths.map(cover).filter((mount) => mount !== undefined);
}

function cover(path: string): Mount | undefined {
  const real = realPath(path);
  const stats = real === undefined ? undefined : lstatSync(real, { throwIfNoEntry: false });
  if (real === undefined || stats === undefined) return undefined;
  return stats.isDirectory() ? { kind: "empty", path: real, writable: false } : { kind: "blank", path: real };
}

/** A home folder that cannot be listed is asked for every name. */
function namesIn(home: string): { has(name: string): boolean } {
  try {
    return new Set(readdirSync(home));
  } catch {
    return { has: () => true };
  }
}
