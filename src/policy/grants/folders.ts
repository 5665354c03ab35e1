import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { outlineOf, readCommandLine } from "../../shell/analysis.js";
import type { WrittenCommand } from "../../shell/read/outline.js";
import type { SimpleCommand } from "../../shell/types.js";

const PLAIN_WORD = /^(?:[\w@%+=:,./~-]+|'[^']*'|"[^"$`\\]*")$/;
const CHANGES_FOLDER = new Set(["cd", "pushd", "popd", "chdir"]);
const READS_SCRIPT = new Set(["source", "."]);
const STARTS_ELSEWHERE = new Set(["env", "sudo", "doas", "systemd-run"]);
const OTHER_FOLDER = /^(?:-C|-D|--chdir|--working-directory)\b/;
/** In an argument it may be code for a program that nobody knows, or say "once for each of many folders". */
const MENTIONS_FOLDERS = /(?:^|[^\w./-])(?:cd|pushd|popd|chdir|source|foreach|-execdir)(?![\w./-])/;

const LONGEST_PATH = 4_096;

/** Nobody goes through more folders on purpose. */
const MOST_STEPS = 8;

/**
 * The folders a command line may act in, as far as it says so at its beginning (`cd app && …`), or undefined
 * when it changes folders in a way that cannot be foreseen, or more often than can be seen (`moves`). Links are followed by whoever compares them.
 */
export function foldersOf(command: string, cwd: string, moves = 0): readonly string[] | undefined {
  let folders = [cwd];
  let steps = 0;
  for (const { command: step, next } of outlineOf(command)?.steps ?? []) {
    if (step.words[0] !== "cd") break;
    const target = targetOf(step);
    if (target === undefined || steps === MOST_STEPS) return undefined;
    const gone = folders.map((folder) => resolve(folder, target));
    // After a semicolon the line goes on even when the folder is not there.
    folders = next === "if it works" ? gone : [...new Set([...folders, ...gone])];
    if (folders.some((folder) => folder.length > LONGEST_PATH)) return undefined;
    steps += 1;
  }
  const readings = readCommandLine(command)?.readings;
  if (readings === undefined || moves > steps) return undefined;
  return readings.every(({ commands }) => commands.filter(leadsElsewhere).length <= steps)
    ? folders
    : undefined;
}

/** Where a `cd` at the beginning leads; undefined when only the running shell knows. */
function targetOf({ words, spelled, plain, assigns }: WrittenCommand): string | undefined {
  const at = words[1] === "--" ? 2 : 1;
  const [target = "-", spelling = ""] = [words[at], spelled[at]];
  if (!plain || assigns || words.length !== at + 1 || !PLAIN_WORD.test(spelling)) return undefined;
  // A bare `-` is wherever the shell was before, and ~somebody is another person's home.
  if (target === "-" || /^~[^/]/.test(spelling)) return undefined;
  return spelling.startsWith("~") ? join(homedir(), target.slice(1)) : target;
}

function leadsElsewhere({ program, args }: SimpleCommand): boolean {
  if (CHANGES_FOLDER.has(program) || READS_SCRIPT.has(program)) return true;
  if (STARTS_ELSEWHERE.has(program) && args.some(({ text }) => OTHER_FOLDER.test(text))) return true;
  return args.some(({ text }) => MENTIONS_FOLDERS.test(text));
}
