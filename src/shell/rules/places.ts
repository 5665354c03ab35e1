import { foldPath } from "../../base/path.js";
import { decidingRow, plainNames, rowsAt, rowsNaming, untilException } from "../../places/match-place.js";
import { PLACE_TABLE, type PlaceKind, type PlaceRow } from "../../places/table.js";
import { type ShellWord, UNKNOWN } from "../types.js";
import {
  couldMatch,
  inHome,
  isAnchored,
  type Place,
  perWord,
  placeOf,
  segmentIn,
  takesEverything,
} from "./segments.js";

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

const PERSONAL = new Set(
  (
    "pictures photos music videos movies documents desktop dcim dropbox onedrive nextcloud public mail maildir notes org " +
    "obsidian zotero calibre"
  ).split(" "),
);

/** What follows a home when it begins with a folder in which people keep what they made: `~/Documents/x`. */
function inPersonal(word: ShellWord): readonly string[] | undefined {
  if (!isAnchored(word) || placeOf(word).anchor === "unknown") return undefined;
  const rest = inHome(word) ?? [];
  return PERSONAL.has(rest[0] ?? "") || rest[0] === "google drive" ? rest : undefined;
}

/** A folder of a home in which people keep what they made, or something in it, or the home itself. */
export function isPersonal(word: ShellWord): boolean {
  return isHomeLike(word) || isSomeonesHome(word) || inPersonal(word) !== undefined;
}

/** One of these folders as a whole: `~/Documents`, `~/Pictures/*`. */
export function isPersonalFolder(word: ShellWord): boolean {
  return isWhole(inPersonal(word) ?? [], 1);
}

/** A folder below which stores of keys lie: `~/.config`, `~/.local/share`. */
export function holdsKeys(word: ShellWord): boolean {
  const rest = isAnchored(word) && placeOf(word).anchor !== "unknown" ? (inHome(word) ?? []) : [];
  if (rest.length === 0) return false;
  return namesOfRows().some(
    ({ row, home }) =>
      row.what === "credentials" &&
      home.some((parts) => parts.length > rest.length && rest.every((part, at) => part === parts[at])),
  );
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

/**
 * `/tmp`, `/var/tmp`, `/dev/shm`, `/run/user/1000`, `~/Downloads`: where fetched and throw-away files lie; and what hides
 * in `~/.cache`.
 */
export function isDownloadPlace(word: ShellWord): boolean {
  if (!isAnchored(word)) return false;
  const { anchor, segments } = placeOf(word);
  if (anchor === "root") {
    if (segmentIn(segments[0], TEMPORARY)) return true;
    if (LOOSE.get(segments[0] ?? "")?.includes(segments[1] ?? "") === true) return true;
  }
  if (anchor === "unknown") return false;
  const rest = inHome(word);
  return rest?.[0] === "downloads" || (rest?.[0] === ".cache" && rest.some(isHidden));
}
const LOOSE: ReadonlyMap<string, readonly string[]> = new Map([
  ["var", ["tmp", "lock"]],
  ["dev", ["shm"]],
  ["run", ["shm", "lock", "user"]],
]);

const isHidden = (segment: string, index: number): boolean => index > 0 && /^\.[^.]/.test(segment);

/** A name there that ordinary listings do not show: nobody who has nothing to hide calls a file so. */
export function isHiddenThere(word: ShellWord): boolean {
  return isDownloadPlace(word) && placeOf(word).segments.some(isHidden);
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

/** A file a shell, desktop or tool reads and runs when it starts. A bare name may lie in the home as well. */
export function isStartupFile(word: ShellWord): boolean {
  if (isOfKind(word, "startup")) return true;
  const { anchor, segments } = placeOf(word);
  const [name = ""] = segments;
  if (anchor !== "here" || segments.length !== 1) return false;
  if (isPattern(name)) return isOfKind({ ...word, text: `~/${word.text}` }, "startup");
  return rowsAt({ path: foldPath(name), inHome: name }).some(({ what }) => what === "startup");
}

/** A place that holds keys and tokens: reading it gives them away, writing it gives access. */
export function isCredentialStore(word: ShellWord): boolean {
  return isOfKind(word, "credentials");
}

/** Keys and tokens of a person or the machine, and the memory of running programs, which holds them too. */
export function isKeyPlace(word: ShellWord): boolean {
  return rowsOf(word).some(
    ({ what, read }) =>
      read !== "allow" && (what === "credentials" || what === "system-secrets" || what === "memory"),
  );
}

/** What programs outside of any boundary listen on. */
export function isControlSocket(word: ShellWord): boolean {
  return isOfKind(word, "control-socket");
}

/** A single key, wherever it lies. */
export function isKeyFile(word: ShellWord): boolean {
  return rowsOf(word).some(({ what, write }) => what === "secrets" && write !== "allow");
}

/** `.env` and its kin in a project; templates (`.env.example`) hold no secret. */
export function isProjectSecret(word: ShellWord): boolean {
  return isOfKind(word, "environment");
}

/** Whatever holds secrets and should not leave the machine. Public keys and templates are not among them. */
export function isCredentialFile(word: ShellWord): boolean {
  if (decidingRow(rowsOf(word), "read") !== undefined) return true;
  // The root of another machine, where it is mounted: `/mnt/etc/shadow`.
  const inner = MOUNTED.exec(word.text)?.[1];
  return inner !== undefined && decidingRow(rowsOf({ ...word, text: inner }), "read") !== undefined;
}
const MOUNTED =
  /^\/(?:mnt|media|run\/media|host|hostfs|rootfs|sysroot|target|proc\/(?:1|self)\/root)(?:\/[^/]+){0,2}?(\/(?:etc|root|home|var|Users)\/.+)$/;

/** The runtime's own state and rules: an agent that may write them may write its own permission. */
export function isHermesOwn(word: ShellWord): boolean {
  return isOfKind(word, "hermes", "hermes-secrets", "project-hermes");
}

/** Files of agents and editors that start programs, or are read as orders, when a folder is opened. */
export function isAgentSettings(word: ShellWord): boolean {
  return isOfKind(word, "editor", "notes");
}

/** What a build server runs by itself once it is pushed. */
export function isBuildRecipe(word: ShellWord): boolean {
  return isOfKind(word, "build");
}

/** Programs git starts by itself, and the settings that name them. */
export function isGitHook(word: ShellWord): boolean {
  return isOfKind(word, "git", "git-hooks");
}

/** Where shells keep what was typed. */
export function isHistoryFile(word: ShellWord): boolean {
  return isOfKind(word, "history");
}

/** Inside (or equal to) a tree of the operating system, or what its services listen on; harmless devices and temporary folders are not. */
export function isSystemPath(word: ShellWord): boolean {
  return isOfKind(word, "system", "control-socket");
}

function isOfKind(word: ShellWord, ...kinds: readonly PlaceKind[]): boolean {
  return rowsOf(word).some(({ what }) => kinds.includes(what));
}

/** The rows of the table of places that speak of what a word names. */
const rowsOf = perWord((word): readonly PlaceRow[] => {
  const place = placeOf(word);
  return place.segments.some(isPattern) ? rowsMeant(word, place) : rowsAt(spotOf(word, place));
});

/** No system opens a longer one. */
const LONGEST_PATH = 4_096;

function spotOf(word: ShellWord, { anchor, segments }: Place) {
  // A sentence that mentions paths (`--message 'copy a ~/.ssh/b'`) is none itself; its end may look like a name.
  const isSentence = anchor === "here" && /\s~?\//.test(word.text);
  const last = foldPath(segments.at(-1) ?? "");
  const path = isSentence ? last : segments.join("/");
  if (path.length > LONGEST_PATH) return { path: last.slice(-LONGEST_PATH) };
  return {
    path: foldPath(path),
    fromRoot: anchor === "root",
    inHome: inHome(word)?.join("/"),
    inHermes: inHermes(word, segments)?.join("/"),
  };
}

function inHermes(word: ShellWord, segments: readonly string[]): readonly string[] | undefined {
  if (word.variables?.includes("HERMES_HOME") === true) return segments.slice(1);
  const at = segments.indexOf(".hermes");
  return at === -1 ? undefined : segments.slice(at + 1);
}

function isPattern(segment: string): boolean {
  return /[*?[\uFFFC]/.test(segment);
}

/** For `~/.ss?/*`: the rows that it names outright, and those with a name that the pattern could be made for. */
function rowsMeant(word: ShellWord, place: Place): readonly PlaceRow[] {
  const { anchor, segments } = place;
  const outright = new Set(rowsNaming(spotOf(word, place)));
  const rest = inHome(word) ?? [];
  const rootStart = plainStart(segments[0]);
  const homeStart = plainStart(rest[0]);
  const nameStart = plainStart(segments.at(-1));
  const isBroad = /[*?[]/.test(segments.at(-1) ?? "");
  const rows = namesOfRows().flatMap(({ row, root, home, anywhere }) => {
    const isSecretName = row.what === "secrets" || row.what === "environment";
    if (row.what === "ordinary") return outright.has(row) ? [row] : [];
    const isMeant =
      (outright.has(row) && !(isBroad && isSecretName)) ||
      (anchor === "root" &&
        root.some((parts) => mayStart(parts, rootStart) && beginsWith(segments, parts, couldBe))) ||
      home.some(
        (parts) =>
          mayStart(parts, homeStart) &&
          beginsWith(rest, parts, row.what === "startup" && rest.length === 1 ? couldBe : isNamed),
      ) ||
      anywhere.some(
        (parts) =>
          (row.what === "git" || mayStart(parts, nameStart)) && isMeantAnywhere(segments, parts, row.what),
      );
    return isMeant ? [row] : [];
  });
  return untilException(rows);
}

/** What a segment certainly begins with. */
function plainStart(segment = ""): string {
  return /^[\w.-]*/.exec(segment)?.[0] ?? "";
}

/** Most names are told apart by their beginning, which is quicker than to hold them against a pattern. */
function mayStart(parts: readonly string[], start: string): boolean {
  return parts[0]?.startsWith(start) === true;
}

interface RowNames {
  readonly row: PlaceRow;
  readonly root: readonly (readonly string[])[];
  readonly home: readonly (readonly string[])[];
  readonly anywhere: readonly (readonly string[])[];
}

let known: readonly RowNames[] | undefined;

function namesOfRows(): readonly RowNames[] {
  const names = (anchor: "/" | "~/" | "**/", row: PlaceRow) =>
    plainNames(anchor, (other) => other === row).map((name) => foldPath(name.replace(/\/$/, "")).split("/"));
  known ??= PLACE_TABLE.map((row) => ({
    row,
    root: names("/", row),
    home: names("~/", row),
    anywhere: names("**/", row),
  }));
  return known;
}

type Comparison = (segment: string, name: string) => boolean;

function beginsWith(segments: readonly string[], parts: readonly string[], isSame: Comparison): boolean {
  return parts.length <= segments.length && parts.every((part, at) => isSame(segments[at] ?? "", part));
}

/** Names that lie in any folder are so many that only some kinds are looked for behind a pattern. */
function isMeantAnywhere(segments: readonly string[], parts: readonly string[], what: PlaceKind): boolean {
  const last = segments.at(-1) ?? "";
  const [first = "", ...others] = parts;
  switch (what) {
    case "history":
      return couldBe(last, first) && !takesEverything(last);
    case "git":
      return (
        others.length > 0 &&
        beginsWith(segments.slice(segments.lastIndexOf(first) + 1), others, couldBe) &&
        segments.includes(first)
      );
    case "secrets":
    case "environment":
      return /^(?:\.|id_)/.test(first) && isNamed(last, first) && letters(last) >= 3;
    default:
      return false;
  }
}

/** Whether a segment is, or as a pattern could be, this name. */
function couldBe(segment: string, name: string): boolean {
  if (!isPattern(segment)) return segment === name;
  return segment !== UNKNOWN && segment.length <= 64 && couldMatch(segment, name);
}

/** Whether a segment is this name, or a pattern made for it: `.ss?`. One that takes nearly everything is not. */
function isNamed(segment: string, name: string): boolean {
  if (segment === name) return true;
  if (!/[*?[]/.test(segment) || segment.length > 64) return false;
  return segment[0] === name[0] && couldMatch(segment, name) && letters(segment) >= 2;
}

/** How many characters of a pattern are written out. */
function letters(pattern: string): number {
  return pattern.replace(/\[[^\]]*\]|[*?]/g, "").length;
}
