import { type ShellWord, UNKNOWN } from "../types.js";
import { isSystemPath } from "./protected-places.js";
import { inHome, isAnchored, placeOf, segmentIn, takesEverything } from "./segments.js";

/** The folders whose recursive removal ends a machine: never allowed. */
const VITAL = new Set("home root etc usr var bin sbin boot lib lib32 lib64 libx32 users system".split(" "));
const CONFIGURATION = new Set(["etc", "boot", "proc", "sys", "efi"]);
const TEMPORARY = new Set(["tmp"]);

/** `/`, or everything directly in it (`/*`), in any spelling. */
export function isRootLike(word: ShellWord): boolean {
  if (!isAnchored(word)) return false;
  const { anchor, segments } = placeOf(word);
  return anchor === "root" && isWhole(segments, 0);
}

/** A folder reached through unknown pieces only (`$DIR/`, `$A/$B/*`): with them empty it is the root. */
export function couldBeRoot(word: ShellWord): boolean {
  if (!isAnchored(word)) return false;
  const { anchor, segments } = placeOf(word);
  if (anchor === "here" || anchor === "home") return false;
  if (anchor === "unknown" && !word.text.includes("/")) return false;
  return segments.every(
    (part, index) => isUnknown(part) || (index === segments.length - 1 && takesEverything(part)),
  );
}

/** The user's home, or everything in it; `/home/$USER` is one way to write it. */
export function isHomeLike(word: ShellWord): boolean {
  if (!isAnchored(word)) return false;
  const { anchor, segments } = placeOf(word);
  if (anchor === "home") return isWhole(segments, 0);
  if (anchor !== "root") return false;
  if (segments[0] === "root") return isWhole(segments, 1);
  const own =
    segments[1] === UNKNOWN && (word.variables ?? []).some((name) => name === "USER" || name === "LOGNAME");
  return own && /^(?:home|users)$/.test(segments[0] ?? "") && isWhole(segments, 2);
}

/** Another person's home as a whole: `/home/alice`, `~alice/*`. */
export function isSomeonesHome(word: ShellWord): boolean {
  if (!isAnchored(word)) return false;
  const { anchor, segments } = placeOf(word);
  return anchor === "root" && /^(?:home|users)$/.test(segments[0] ?? "") && isWhole(segments, 2);
}

/** A place whose recursive removal is refused always: root, home, or a folder the system stands on. */
export function isVital(word: ShellWord): boolean {
  if (!isAnchored(word)) return false;
  if (isRootLike(word) || isHomeLike(word)) return true;
  const { anchor, segments } = placeOf(word);
  return anchor === "root" && isVitalName(segments[0] ?? "", word.glob) && isWhole(segments, 1);
}

/** `/e?c` and `/[u]sr` are patterns for one of them; an unknown piece alone proves nothing. */
function isVitalName(segment: string, glob: boolean): boolean {
  return VITAL.has(segment) || (glob && !segment.includes(UNKNOWN) && segmentIn(segment, VITAL));
}

/** Settings the machine starts with: `/etc`, `/boot`, `/proc/sys`, `/sys`. */
export function isSystemConfig(word: ShellWord): boolean {
  if (!isAnchored(word)) return false;
  const { anchor, segments } = placeOf(word);
  return anchor === "root" && segmentIn(segments[0], CONFIGURATION) && isSystemPath(word);
}

/** `/dev/null`, the terminal, the standard streams: writing there changes nothing. */
export function isQuietDevice(word: ShellWord): boolean {
  return (deviceName(word) ?? "") !== "" && !isSystemPath(word);
}

const DISK =
  /^(?:[shv]d[a-z*?[\uFFFC]|xvd[a-z*?[\uFFFC]|nvme|mmcblk|r?disk(?:\d|$)|md(?:\d|$)|dm-|mapper$|bcache\d|drbd|da\d|ada\d|block$|root$|nbd\d|pmem\d|fio|cciss$)/;
const SOFT_BLOCK = /^(?:loop|ram\d|zram|sr\d|fd\d|cdrom|zvol|vg|st\d|nst\d)/;

/** A disk, partition or volume: what is written there replaces the data beneath every file. */
export function isDisk(word: ShellWord): boolean {
  const device = deviceName(word);
  return device !== undefined && DISK.test(device);
}

/** A disk, or anything else that holds blocks (loop devices, `/dev/vg0/root`), or a device nobody can name. */
export function isBlockDevice(word: ShellWord): boolean {
  const device = deviceName(word);
  if (device === undefined || isQuietDevice(word)) return false;
  if (DISK.test(device) || SOFT_BLOCK.test(device) || device.startsWith(UNKNOWN)) return true;
  return (
    placeOf(word).segments.length > 2 && !/^(?:bus|input|net|vfio|dri|char|usb|mqueue|hugepages)/.test(device)
  );
}

/** `/tmp`, `/var/tmp`, `/dev/shm`, `~/Downloads`: where fetched and throw-away files lie. */
export function isDownloadPlace(word: ShellWord): boolean {
  if (!isAnchored(word)) return false;
  const { anchor, segments } = placeOf(word);
  if (anchor === "root") {
    if (segmentIn(segments[0], TEMPORARY)) return true;
    if (segments[0] === "var" && segments[1] === "tmp") return true;
    if (segments[0] === "dev" && segments[1] === "shm") return true;
  }
  return anchor !== "unknown" && inHome(word)?.[0] === "downloads";
}

/** Below `/var/log`, or the folder itself. */
export function isSystemLog(word: ShellWord): boolean {
  if (!isAnchored(word)) return false;
  const { anchor, segments } = placeOf(word);
  return anchor === "root" && segments[0] === "var" && (segments[1] === "log" || segments[1] === "audit");
}

function deviceName(word: ShellWord): string | undefined {
  if (!isAnchored(word)) return undefined;
  const { anchor, segments } = placeOf(word);
  return anchor === "root" && segments[0] === "dev" ? segments[1] : undefined;
}

function isWhole(segments: readonly string[], from: number): boolean {
  if (segments.length <= from) return segments.length === from;
  return segments.length === from + 1 && takesEverything(segments[from] ?? "");
}

function isUnknown(segment: string): boolean {
  return segment.replaceAll(UNKNOWN, "") === "";
}

export {
  isAgentSettings,
  isBuildRecipe,
  isCredentialFile,
  isCredentialStore,
  isGitHook,
  isHermesOwn,
  isHistoryFile,
  isKeyFile,
  isProjectSecret,
  isStartupFile,
  isSystemPath,
} from "./protected-places.js";
