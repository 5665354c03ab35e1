import type { CallContext } from "../../../tool/tool.js";
import { BYTE_SIGNS, bytePattern } from "./byte-pattern.js";
import { posixPattern } from "./posix-pattern.js";
import { type LineRunResult, runLines } from "./run-lines.js";
import { shorten } from "./shown-line.js";
import type { ContentQuery, FoundLine } from "./types.js";
import { SECRET_FILE_GLOBS } from "./visibility.js";

/**
 * The search with the small grep of busybox and its like, which cannot end names with NUL, does not know binary
 * files and sees bytes instead of characters: the names of files that match first, then each file on its own. A byte
 * that begins no line of grep's announces a file.
 */
const SCRIPT = `
pattern=$(printf '%s' "$1" | tr '${BYTE_SIGNS.from}' '${BYTE_SIGNS.to}') context=$2 operand=$3
shift 3
echo | grep -E -e "$pattern" >/dev/null
[ $? -le 1 ] || exit 2
find "$operand" -name .git -prune -o -type f "$@" -exec grep -slE -e "$pattern" -- {} + |
while IFS= read -r file; do
  tr -d '\\000' <"$file" | cmp -s - "$file" || continue
  printf '\\001%s\\n' "$file"
  grep -hnE \${context:+-C} \${context:+"$context"} -e "$pattern" -- "$file"
done
exit 0
`;

/** True when a grep complains about options that only the large ones have. */
export function isSmallGrep({ exitCode, stderr }: LineRunResult): boolean {
  return exitCode !== 0 && /busybox|(?:invalid|unrecognized|unknown|illegal) option/i.test(stderr);
}

export async function runSmallGrep(
  query: ContentQuery,
  ctx: CallContext,
  onLine: (line: FoundLine) => boolean,
): Promise<LineRunResult> {
  let path = "";
  let wanted = false;
  const context = query.context > 0 && query.mode === "content" ? String(query.context) : "";
  return await runLines({
    command: [
      "sh",
      "-c",
      SCRIPT,
      "sh",
      bytePattern(posixPattern(query.pattern)),
      context,
      query.root.operand,
      ...SECRET_FILE_GLOBS.flatMap((name) => ["!", "-name", name]),
    ],
    cwd: query.root.folder,
    separator: "\n",
    ctx,
    onRecord: (record) => {
      if (record.startsWith("\u0001")) {
        path = record.slice(1).replace(/^\.\//, "");
        wanted = query.accepts(path);
        return true;
      }
      const [, number, mark, text = ""] = /^(\d+)([:-])(.*)$/s.exec(record) ?? [];
      if (number === undefined || !wanted) return true;
      return onLine({ path, line: Number(number), isMatch: mark === ":", ...shorten(text, []) });
    },
  });
}
