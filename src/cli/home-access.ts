import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "../base/errno.js";
import { quoteIfNeeded } from "../base/quote.js";
import { commandError } from "./errors.js";

/**
 * A volume that belongs to somebody else would end a service again and again, each time with the words of another file.
 * What is missing is looked for at the nearest folder that is there.
 */
export function assertOwnHome(home: string): void {
  for (let place = home; ; place = dirname(place)) {
    try {
      accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK);
      return;
    } catch (error) {
      if (errnoOf(error) === "ENOENT" && place !== dirname(place)) continue;
      throw notOurs(home, place);
    }
  }
}

function notOurs(home: string, place: string): Error {
  const known = firstKnown(place);
  const { uid, gid, mode } = statSync(known);
  const me = `${process.getuid?.()}:${process.getgid?.()}`;
  const rights = (mode & 0o777).toString(8);
  // Never the whole of a folder that is not the home: it may be /var/lib, or somebody's own.
  const give =
    known === home
      ? `give it away (chown -R ${me} ${quoteIfNeeded(home)})`
      : `have it made (install -d -m 700 -o ${process.getuid?.()} -g ${process.getgid?.()} ${quoteIfNeeded(home)})`;
  return commandError(
    "unavailable",
    `${known} belongs to user ${uid}:${gid} (mode ${rights}), and this runs as ${me}: the Hermes home ${home} cannot be used`,
    `Run as its owner (docker run --user ${uid}:${gid}, or User= of the unit), ${give}, or set HERMES_HOME to another folder.`,
  );
}

/** What lies in a folder that may not be entered, nobody can say anything of. */
function firstKnown(place: string): string {
  for (let known = place; ; known = dirname(known)) {
    try {
      statSync(known);
      return known;
    } catch (error) {
      if (known === dirname(known)) throw error;
    }
  }
}
