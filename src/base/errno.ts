/** The code of a system error (`ENOENT`), of whatever was thrown. */
export function errnoOf(error: unknown): string | undefined {
  const code: unknown =
    typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** The path, or a folder on the way to it, does not exist. */
export function isMissing(error: unknown): boolean {
  const code = errnoOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** What the system's answer about a file means, for people. */
export function errnoText(code: string): string {
  return Object.hasOwn(TEXTS, code) ? (TEXTS[code] ?? code) : `the system answered ${code}`;
}

const TEXTS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is a file, not a folder",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  EPERM: "the operation is not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "the links lead in a circle",
  ENOTEMPTY: "the folder is not empty",
  EEXIST: "it exists already",
  EBUSY: "it is in use (for example a mount point)",
  EMFILE: "too many files are open in this process",
  ENFILE: "too many files are open on this machine",
  EIO: "the disk reported an input/output error",
  ERR_FS_FILE_TOO_LARGE: "it is too large to read at once",
};

/** What an error says of itself, or what was thrown in its place. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
