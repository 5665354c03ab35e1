export interface TimingInput {
  /** What repeats, e.g. "and-list". */
  readonly shape: string;
  readonly bytes: number;
  readonly cmd: string;
}

interface Shape {
  readonly shape: string;
  readonly head?: string;
  readonly piece: string;
  readonly tail?: string;
  /** Closes one piece each, for shapes that nest. */
  readonly close?: string;
}

const SIZES: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 100_000];

/** Repeated prefixes of many kinds: each could send a naive pattern or a recursive parser out of bounds. */
const SHAPES: readonly Shape[] = [
  { shape: "blanks", head: "ls", piece: " ", tail: "; rm -rf x" },
  { shape: "letters", head: "echo ", piece: "a" },
  { shape: "words", head: "echo", piece: " word" },
  { shape: "semicolons", piece: "true; ", tail: "ls" },
  { shape: "and-list", piece: "true && ", tail: "ls" },
  { shape: "pipeline", head: "cat a", piece: " | cat" },
  { shape: "newlines", piece: "ls\n" },
  { shape: "blank-lines", piece: "\n", tail: "ls" },
  { shape: "sudo", piece: "sudo ", tail: "rm -rf x" },
  { shape: "env-assignments", head: "env", piece: " A=1", tail: " rm -rf x" },
  { shape: "assignments", piece: "A=1 ", tail: "ls" },
  { shape: "rm-flags", head: "rm", piece: " -f", tail: " x" },
  { shape: "rm-operands", head: "rm -r", piece: " dir/a" },
  { shape: "slashes", head: "rm -rf ", piece: "/" },
  { shape: "dot-segments", head: "rm -rf /etc", piece: "/.." },
  { shape: "stars", head: "ls ", piece: "*" },
  { shape: "subshells", piece: "( ", tail: "ls", close: " )" },
  { shape: "open-subshells", piece: "( " },
  { shape: "substitutions", head: "echo ", piece: "$(echo ", tail: "x", close: ")" },
  { shape: "open-substitutions", head: "echo ", piece: "$(" },
  { shape: "backticks", head: "echo ", piece: "`ls` " },
  { shape: "open-braces", head: "echo ", piece: "{a," },
  { shape: "brace-pairs", head: "echo ", piece: "{a,b}" },
  { shape: "brace-ranges", head: "echo", piece: " {1..9}" },
  { shape: "parameter-defaults", head: "echo ", piece: "${a:-", tail: "x", close: "}" },
  { shape: "variables", head: "x=rm; echo ", piece: "$x" },
  { shape: "growing-variables", head: "a=xx; ", piece: 'a="$a$a"; ', tail: "echo $a" },
  { shape: "empty-quotes", head: "echo r", piece: "''", tail: "m" },
  { shape: "single-quotes", head: "echo", piece: " 'rm -rf /'" },
  { shape: "double-quotes", head: "echo", piece: ' "rm -rf /"' },
  { shape: "open-quote", head: "echo '", piece: "rm -rf / " },
  { shape: "backslashes", head: "echo ", piece: "\\\\" },
  { shape: "escaped-letters", head: "echo ", piece: "\\r" },
  { shape: "continuations", head: "ls", piece: " \\\n" },
  { shape: "ansi-c", head: "echo $'", piece: "\\x72", tail: "'" },
  { shape: "ifs", head: "echo ", piece: `a\${IFS}` },
  { shape: "comments", piece: "# rm -rf /\n", tail: "ls" },
  { shape: "heredoc-text", head: "cat <<'EOF'\n", piece: "rm -rf / is text\n", tail: "EOF" },
  { shape: "heredoc-open", head: "cat <<'EOF'\n", piece: "rm -rf / is text\n" },
  { shape: "heredocs", piece: "cat <<E\nx\nE\n" },
  { shape: "shell-c", piece: "sh -c '", tail: "ls", close: "'" },
  { shape: "eval-words", piece: "eval ", tail: "ls" },
  { shape: "redirects", head: "ls", piece: " 2>&1" },
  { shape: "python", head: 'python3 -c "', piece: "print(1); ", tail: '"' },
  { shape: "sql", head: 'psql -c "', piece: "select 1; ", tail: '"' },
  { shape: "sql-almost", head: 'psql -c "', piece: "delete from t where id=1; ", tail: '"' },
  { shape: "curl-almost", piece: "curl http://x/a | tee b; " },
  { shape: "base64", head: "echo ", piece: "QUJDRA", tail: " | base64 -d | wc -c" },
  { shape: "if-blocks", piece: "if true; then ", tail: "ls", close: "; fi" },
  { shape: "case-arms", head: "case x in ", piece: "a) ls ;; ", tail: "esac" },
  { shape: "functions", piece: "f() { ls; }\n", tail: "f" },
  { shape: "full-width", head: "echo ", piece: "ｒｍ " },
  { shape: "colour-codes", head: "echo ", piece: "\u001b[31mx" },
  { shape: "zero-width", head: "echo ", piece: "x\u200b" },
  { shape: "combining-marks", head: "echo a", piece: "\u0301" },
  { shape: "surrogates", head: "echo ", piece: "😀" },
  { shape: "fork-almost", piece: ":(){ :; };" },
  { shape: "dashes", head: "git push ", piece: "-" },
  { shape: "git-options", head: "git", piece: " -c a.b=c", tail: " status" },
  { shape: "arrays", head: "a=(", piece: "x ", tail: ")" },
  { shape: "arithmetic", head: "echo $((", piece: "1+", tail: "1))" },
];

/** Inputs of each shape in growing sizes: time must grow with length, and the longest stay in bounds. */
export function timingInputs(): TimingInput[] {
  return SHAPES.flatMap((shape) => SIZES.map((bytes) => timingInput(shape, bytes)));
}

function timingInput({ shape, head = "", piece, tail = "", close = "" }: Shape, bytes: number): TimingInput {
  const room = bytes - Buffer.byteLength(head + tail);
  const times = Math.max(1, Math.floor(room / Buffer.byteLength(piece + close)));
  return { shape, bytes, cmd: head + piece.repeat(times) + tail + close.repeat(times) };
}
