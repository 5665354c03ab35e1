import { foldPath } from "../base/path.js";
import { rowsAt, type Spot } from "./match-place.js";
import { PLACE_KINDS, type PlaceKind, type PlaceVerdict } from "./table.js";

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
  const [row] = rowsAt(spotOf(question.path, question));
  if (row === undefined) return ORDINARY;
  return { verdict: row[question.operation], what: row.what, words: PLACE_KINDS[row.what] };
}

function spotOf(path: string, homes: Homes): Spot {
  const folded = foldPath(path).replace(/^\/+/, "");
  return {
    path: folded,
    fromRoot: true,
    inHome: restBelow(folded, homes.home) ?? ANY_HOME.exec(folded)?.[1],
    inHermes: inHermes(folded, homes.hermesHome),
  };
}

/** What looks like anybody's home. */
const ANY_HOME = /^(?:root|(?:home|users)\/[^/]+)\/(.*)$/s;

/** What follows a folder, `""` for the folder itself. */
function restBelow(folded: string, folder: string): string | undefined {
  const outer = foldPath(folder).replace(/^\/+|\/+$/g, "");
  if (outer === "") return undefined;
  if (folded === outer) return "";
  return folded.startsWith(`${outer}/`) ? folded.slice(outer.length + 1) : undefined;
}

function inHermes(folded: string, hermesHome: string): string | undefined {
  const rest = restBelow(folded, rootOfProfiles(hermesHome));
  return rest?.replace(/^profiles\/[^/]+(?:\/|$)/, "");
}

/** Profiles lie side by side below one home. */
function rootOfProfiles(hermesHome: string): string {
  return /^(.+)\/profiles\/[^/]+\/*$/.exec(hermesHome)?.[1] ?? hermesHome;
}

/** The name of the profile that a path belongs to, when it is not the one in use. */
export function otherProfile(path: string, hermesHome: string): string | undefined {
  const root = rootOfProfiles(hermesHome);
  const folded = foldPath(path).replace(/^\/+/, "");
  if (restBelow(folded, `${root}/profiles`) === undefined) return undefined;
  if (root !== hermesHome && restBelow(folded, hermesHome) !== undefined) return undefined;
  return path.slice(root.length).split("/").filter(Boolean)[1];
}
