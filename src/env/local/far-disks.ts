import { readFileSync } from "node:fs";
import { lstat } from "node:fs/promises";

/** Disks whose answers come from another machine or program, and may never come. */
const FAR =
  /^(?:nfs4?|cifs|smb3|smbfs|afs|ceph|9p|glusterfs|lustre|gpfs|beegfs|davfs|autofs|fuse(?!\.fuse-overlayfs).*)$/;
const KNOWN_FOR_MS = 5_000;
let known: { readonly places: readonly string[] | undefined; readonly at: number } | undefined;

/**
 * Looks at names block this whole process. On a disk that may not answer, somebody else is sent first: what hangs then
 * is that one call, and not everything.
 */
export async function reach(path: string): Promise<void> {
  if (isFar(path, farPlaces())) await lstat(path).catch(() => undefined);
}

/** Without a list of what is mounted, everything may be far. */
export function isFar(path: string, places: readonly string[] | undefined): boolean {
  return places === undefined || places.some((place) => path === place || path.startsWith(`${place}/`));
}

/** The mount points among the lines of /proc/self/mounts that lead far; blanks in names are written as \040. */
export function farPlacesIn(mounts: string): readonly string[] {
  return mounts.split("\n").flatMap((line) => {
    const [, place = "", kind = ""] = line.split(" ");
    const name = place.replace(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCharCode(parseInt(octal, 8)),
    );
    return FAR.test(kind) ? [name === "/" ? "" : name] : [];
  });
}

function farPlaces(): readonly string[] | undefined {
  const now = performance.now();
  if (known === undefined || now - known.at > KNOWN_FOR_MS) known = { places: read(), at: now };
  return known.places;
}

function read(): readonly string[] | undefined {
  try {
    return farPlacesIn(readFileSync("/proc/self/mounts", "utf8"));
  } catch {
    return undefined;
  }
}
