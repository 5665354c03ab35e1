import { foldPath } from "../base/path.js";
import { decidingRow, rowsAt, type Spot } from "./match-place.js";
import { PLACE_KINDS, type PlaceKind, type PlaceRow, type PlaceVerdict } from "./table.js";

export interface Homes {
  /** The person's home in the environment that is touched. */
  readonly home: string;
  /** The home of Hermes in use; it may be one of several profiles. */
  readonly hermesHome: string;
}

export interface PlaceQuestion extends Homes {
  /** Absolute. A link is judged by its name and by where it leads, with a question for each. */
  readonly path: string;
  readonly operation: "read" | "write";
}

export interface JudgedPlace {
  readonly verdict: PlaceVerdict;
  readonly what: PlaceKind;
  /** The same in words: "a credential store". */
  readonly words: string;
}

const ORDINARY: JudgedPlace = { verdict: "allow", what: "ordinary", words: PLACE_KINDS.ordinary };

/** What the table says of reading or writing one place. Names count, whether or not there is a file yet. */
export function judgePlace(question: PlaceQuestion): JudgedPlace {
  const row = decidingRow(rowsOfPlace(question.path, question), question.operation);
  if (row === undefined) return ORDINARY;
  return { verdict: row[question.operation], what: row.what, words: PLACE_KINDS[row.what] };
}

/** Every row of the table that speaks of a place. */
export function rowsOfPlace(path: string, homes: Homes): readonly PlaceRow[] {
  return rowsAt(spotOf(path, homes));
}

function spotOf(path: string, homes: Homes): Spot {
  const folded = foldPath(path).replace(/^\/+/, "");
  const { home, root } = foldedHomes(homes);
  return {
    path: folded,
    fromRoot: true,
    inHome: restBelow(folded, home) ?? ANY_HOME.exec(folded)?.[1],
    inHermes: restBelow(folded, root)?.replace(/^profiles\/[^/]+(?:\/|$)/, ""),
  };
}

/** What looks like anybody's home. */
const ANY_HOME = /^(?:root|(?:home|users)\/[^/]+)\/(.*)$/s;

interface FoldedHomes extends Homes {
  /** Where all profiles of Hermes lie. */
  readonly root: string;
}

let lastHomes: { readonly given: Homes; readonly folded: FoldedHomes } | undefined;

/** Asked with the same homes again and again. */
function foldedHomes({ home, hermesHome }: Homes): FoldedHomes {
  if (lastHomes?.given.home !== home || lastHomes.given.hermesHome !== hermesHome) {
    const folded = { home: folderName(home), hermesHome: folderName(hermesHome) };
    // Profiles lie side by side below one home.
    const root = /^(.+)\/profiles\/[^/]+$/.exec(folded.hermesHome)?.[1] ?? folded.hermesHome;
    lastHomes = { given: { home, hermesHome }, folded: { ...folded, root } };
  }
  return lastHomes.folded;
}

function folderName(path: string): string {
  return foldPath(path).replace(/^\/+|\/+$/g, "");
}

/** What follows a folder, `""` for the folder itself. */
function restBelow(folded: string, folder: string): string | undefined {
  if (folder === "" || !folded.startsWith(folder)) return undefined;
  if (folded.length === folder.length) return "";
  return folded[folder.length] === "/" ? folded.slice(folder.length + 1) : undefined;
}

/** The name of the profile that a path belongs to, when it is not the one in use. */
export function otherProfile(path: string, homes: Homes): string | undefined {
  const { hermesHome, root } = foldedHomes(homes);
  const folded = foldPath(path).replace(/^\/+/, "");
  const [name] = restBelow(folded, `${root}/profiles`)?.split("/") ?? [];
  return name === "" || restBelow(folded, hermesHome)?.startsWith("profiles/") === false ? undefined : name;
}
