import { basename, join, sep } from "node:path";

const HOME_FOLDERS = [".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".config/gh", ".config/gcloud"];
const HOME_FILES = [
  ".netrc",
  ".pgpass",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
  ".bashrc",
  ".bash_profile",
  ".profile",
  ".zshrc",
  ".zprofile",
];
const SYSTEM = ["/etc", "/boot", "/usr", "/bin", "/sbin", "/lib"];
const SECRET_NAME = /^(?:\.env(?:\..+)?|\.envrc|id_(?:rsa|dsa|ecdsa|ed25519))$/i;

export interface Places {
  readonly hermesHome: string;
  /** The person's home in the environment that is written to. */
  readonly home: string;
}

/** Why a write to this path should be seen by a person first, whether or not the file exists. */
export function protectedWrite(path: string, places: Places): string | undefined {
  if (isWithin(path, places.hermesHome)) return "Hermes' own files";
  if (SYSTEM.some((folder) => isWithin(path, folder))) return "a system folder";
  if (/[\\/]\.git[\\/](?:.*[\\/])?(?:hooks[\\/]|config(?:\.worktree)?$)/i.test(path))
    return "git hooks and settings run later, outside this check";
  if (/[\\/]\.hermes(?:[\\/]|$)/i.test(path)) return "a project's Hermes settings and tools, which run later";
  return credentialPath(path, places.home);
}

/** Why reading this path would show secrets. */
export function protectedRead(path: string, places: Places): string | undefined {
  const own = ["server.token", ".env", "mcp-tokens"].some((name) =>
    isWithin(path, join(places.hermesHome, name)),
  );
  return own ? "Hermes' own credentials" : credentialPath(path, places.home);
}

function credentialPath(path: string, home: string): string | undefined {
  if (HOME_FOLDERS.some((folder) => isWithin(path, join(home, folder)))) return "a credential folder";
  if (HOME_FILES.some((file) => path.toLowerCase() === join(home, file).toLowerCase()))
    return "a credential or start-up file";
  return SECRET_NAME.test(basename(path)) ? "a file of secrets" : undefined;
}

/** Compared without case: on some disks `.SSH` is `.ssh`. */
export function isWithin(path: string, folder: string): boolean {
  const [inner, outer] = [path.toLowerCase(), folder.toLowerCase()];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}
