import { homedir } from "node:os";
import { join, resolve } from "node:path";

const PLAIN_WORD = /[\w@%+=:,./~-]+/.source;
const QUOTED_WORD = /'[^']*'|"[^"$`\\]*"/.source;
const LEADING_CD = new RegExp(`^\\s*cd\\s+(?:--\\s+)?(${PLAIN_WORD}|${QUOTED_WORD})\\s*(&&|;|\\n)`);
const OTHER_CD = /(?:^|[^\w./-])(?:cd|pushd|popd|chdir)(?![\w./-])/;
/** What runs the rest in folders that are not written there: a script that is read in, once for each of many, `env -C`. */
const ELSEWHERE =
  /(?:^|[^\w./-])(?:source|foreach|-execdir)(?![\w./-])|(?:^|[;&|({\n])[ \t]{0,40}\.\s|\b(?:env|sudo|doas|systemd-run)\s(?:[^;&|\n]{0,200}\s)?(?:-C|-D|--chdir|--working-directory)\b/;

const LONGEST_PATH = 4_096;

/** Nobody goes through more folders on purpose. */
const MOST_STEPS = 8;

/**
 * The folders a command line may act in, as far as it says so at its beginning (`cd app && …`), or undefined
 * when it changes folders in a way that cannot be foreseen, or more often than can be seen (`moves`). Links are followed by whoever compares them.
 */
export function foldersOf(command: string, cwd: string, moves = 0): readonly string[] | undefined {
  let rest = command;
  let folders = [cwd];
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const match = LEADING_CD.exec(rest);
    if (match === null)
      return OTHER_CD.test(rest) || ELSEWHERE.test(rest) || moves > steps ? undefined : folders;
    const [whole, word = "", separator] = match;
    const target = word.replace(/^(["'])(.*)\1$/s, "$2");
    // A bare `-` is wherever the shell was before, and ~somebody is another person's home.
    if (target === "-" || (/^~[^/]/.test(word) && word !== "~")) return undefined;
    const gone = folders.map((folder) => resolve(folder, expanded(target, word)));
    // After a semicolon the line goes on even when the folder is not there.
    folders = separator === "&&" ? gone : [...new Set([...folders, ...gone])];
    if (folders.some((folder) => folder.length > LONGEST_PATH)) return undefined;
    rest = rest.slice(whole.length);
  }
  return undefined;
}

function expanded(target: string, word: string): string {
  if (word === "~" || word.startsWith("~/")) return join(homedir(), target.slice(1));
  return target;
}
