import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { quoteForShell } from "../../base/quote.js";

/** A file that the program finds open under a number of its own, e.g. the filter that a sandbox reads. */
export interface OpenedFile {
  readonly descriptor: number;
  readonly path: string;
}

/**
 * The terminals that this process holds are not closed in what it starts: a program could read and type in
 * the terminal of another one. Closed one by one, because nothing else of a shell can.
 */
const CLOSE_INHERITED = [
  `for HERMES_FD in /proc/self/fd/*; do HERMES_FD=\${HERMES_FD##*/}`,
  'case $HERMES_FD in [012]) ;; *) eval "exec $HERMES_FD>&-" ;; esac',
  "done; unset HERMES_FD",
].join("; ");

export interface StartLine {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Other terminals are open in this process. */
  readonly othersOpen: boolean;
  readonly files?: readonly OpenedFile[] | undefined;
}

/**
 * The arguments as they are, or behind a shell where something has to be closed or opened first, or where
 * the program is not there: a shell then says so and ends with the usual exit code.
 */
export function startLine({ argv, env, othersOpen, files = [] }: StartLine): readonly string[] {
  const inherits = othersOpen && process.platform === "linux";
  const direct = !inherits && files.length === 0 && isThere(argv[0] ?? "", env.PATH);
  if (direct) return argv;
  const opening = files.map((file) => `exec ${file.descriptor}<${quoteForShell(file.path)}`);
  const line = [...(inherits ? [CLOSE_INHERITED] : []), ...opening, 'exec -- "$@"'].join("\n");
  return ["bash", "--noprofile", "--norc", "-c", line, "hermes", ...argv];
}

/** Asked at once: waiting for a thread would take longer than the answer. */
function isThere(program: string, path = ""): boolean {
  const places = program.includes("/")
    ? [program]
    : path.split(":").map((folder) => join(folder || ".", program));
  return places.some((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
