import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "../base/errno.js";
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
  const { uid, gid, mode } = statSync(place);
  const me = `${process.getuid?.()}:${process.getgid?.()}`;
  const rights = (mode & 0o777).toString(8);
  return commandError(
    "unavailable",
    `${place} belongs to user ${uid}:${gid} (mode ${rights}), and this runs as ${me}: the Hermes home ${home} cannot be used`,
    `Run as its owner (docker run --user ${uid}:${gid}, or User= of the unit), give it away (chown -R ${me} ${place}), or set HERMES_HOME to another folder.`,
  );
}
