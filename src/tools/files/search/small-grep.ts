import type { CallContext } from "../../../tool/tool.js";
import { needsRipgrep, posixPattern } from "./posix-pattern.js";
import { type LineRunResult, runLines } from "./run-lines.js";
import { shorten } from "./shown-line.js";
import type { ContentQuery, FoundLine } from "./types.js";
import { SECRET_FILE_GLOBS } from "./visibility.js";

/** Signs that stand for bytes which no text of ours can hold; `tr` puts the bytes in before the pattern is used. */
const BYTE_SIGNS = { from: "\\002\\003\\004\\005", to: "\\200\\277\\302\\364" } as const;

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

const HIGH_BYTES = "\u0002-\u0005";
const HIGH_CHARACTER = "[\u0004-\u0005][\u0002-\u0003]{1,3}";
const QUANTIFIER = /^[*+?{]/;

/**
 * A POSIX expression for a grep that sees bytes where a person sees characters (busybox): what means "any character"
 * means a whole UTF-8 character, and what repeats repeats a whole one.
 */
export function bytePattern(pattern: string): string {
  // Our brackets would change what \1 means. Signs of our own in a pattern match nothing in text anyway.
  if (/\\[1-9]/.test(pattern) || /[\u0002-\u0005]/.test(pattern)) return pattern;
  let written = "";
  for (let at = 0; at < pattern.length; ) {
    const token = tokenAt(pattern, at);
    at += token.length;
    if (token === ".") written += `([^${HIGH_BYTES}]|${HIGH_CHARACTER})`;
    else if (token.startsWith("[")) written += brackets(token, pattern);
    else if (isHigh(token) && QUANTIFIER.test(pattern.slice(at))) written += `(${token})`;
    else written += token;
  }
  return written;
}

/** An escape, a bracket expression or one character. */
function tokenAt(pattern: string, at: number): string {
  const rest = pattern.slice(at);
  const [token = ""] = /^(?:\\.|\[\^?\]?(?:\[:[a-z]+:\]|[^\]])*\]|.)/su.exec(rest) ?? [];
  return token;
}

function brackets(token: string, pattern: string): string {
  const negated = token.startsWith("[^");
  const inner = token.slice(negated ? 2 : 1, -1);
  const high = [...inner].filter(isHigh);
  if (negated && high.length === 0) {
    // A ] is an ordinary sign only as the first one.
    const [front, rest] = inner.startsWith("]") ? ["]", inner.slice(1)] : ["", inner];
    return `([^${front}${HIGH_BYTES}${rest}]|${HIGH_CHARACTER})`;
  }
  if (high.length === 0) return token;
  if (negated || /[^\u0000-\u007f]-|-[^\u0000-\u007f]/.test(inner)) throw needsRipgrep(pattern);
  const low = [...inner].filter((character) => !isHigh(character)).join("");
  return `(${[...(low === "" ? [] : [`[${low}]`]), ...high].join("|")})`;
}

function isHigh(character: string): boolean {
  return (character.codePointAt(0) ?? 0) > 0x7f;
}
