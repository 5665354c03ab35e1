// Command lines of a given length in shapes that have hurt analysers elsewhere.

const SHAPES = {
  words: (size) => `echo ${"word ".repeat(size / 5)}`,
  "one long word": (size) => `echo ${"a".repeat(size)}`,
  commands: (size) => "true; ".repeat(size / 6),
  pipes: (size) => `cat${" | cat".repeat(size / 6)}`,
  "quoted words": (size) => `echo ${"'a b' ".repeat(size / 6)}`,
  "double quotes with variables": (size) => `echo ${'"$HOME/x" '.repeat(size / 10)}`,
  substitutions: (size) => `echo ${"$(true) ".repeat(size / 8)}`,
  backslashes: (size) => `echo ${"\\a".repeat(size / 2)}`,
  assignments: (size) => "A=b; ".repeat(size / 5),
  "here-document": (size) => `cat <<'EOF'\n${"rm -rf / is only text here\n".repeat(size / 27)}EOF`,
  "script for a shell": (size) => `bash -c '${"echo hello; ".repeat(size / 12)}'`,
  "inline code": (size) => `python3 -c "${"print(1);".repeat(size / 9)}"`,
  deletions: (size) => `rm -rf ${"build/out ".repeat(size / 10)}`,
};

/** `[shape, text]` pairs of about this many characters. */
export function commandShapes(size) {
  return Object.entries(SHAPES).map(([shape, make]) => [shape, make(size).slice(0, 2 * size)]);
}
