/** Tests relative paths against a glob: by file name, or by whole path when the glob names folders. */
export async function globMatcher(globs: string): Promise<(path: string) => boolean> {
  const { default: picomatch } = await import("picomatch");
  const tests = splitGlobs(globs).map((glob) => {
    const pattern = glob.replace(/^!/, "").replace(/^\.?\//, "");
    const byName = !pattern.includes("/");
    const matches = picomatch(byName ? pattern : [pattern, `**/${pattern}`], { dot: true });
    const test = (path: string) => matches(byName ? path.slice(path.lastIndexOf("/") + 1) : path);
    return { wanted: !glob.startsWith("!"), test };
  });
  const wanted = tests.filter((test) => test.wanted);
  const unwanted = tests.filter((test) => !test.wanted);
  return (path) =>
    (wanted.length === 0 || wanted.some(({ test }) => test(path))) &&
    !unwanted.some(({ test }) => test(path));
}

export function isGlob(pattern: string): boolean {
  return /[*?[\]{}]/.test(pattern);
}

/** "*.ts, *.tsx" is two globs; a comma inside of braces separates nothing. */
function splitGlobs(globs: string): string[] {
  return globs
    .split(/,(?![^{]*\})/)
    .map((glob) => glob.trim())
    .filter((glob) => glob !== "");
}

/**
 * File names that fit the glob, and perhaps more, as globs of a ripgrep file type; undefined when any name may fit.
 * (`--glob` would do more, but it also finds files that git ignores.)
 */
export function nameGlobs(globs: string): string[] | undefined {
  const wanted = splitGlobs(globs).filter((glob) => !glob.startsWith("!"));
  const names = wanted.map((glob) => {
    const name = glob.slice(glob.lastIndexOf("/") + 1);
    // Braces around folders ("{a,b/*.ts}") leave half a pair here, and ripgrep reads extended globs differently.
    return /^include:|[()\\]/.test(name) || hasHalfPair(name) ? "*" : name.replaceAll("**", "*");
  });
  return names.length === 0 || names.includes("*") || names.includes("") ? undefined : names;
}

function hasHalfPair(name: string): boolean {
  const count = (sign: string) => name.split(sign).length;
  return count("{") !== count("}") || count("[") !== count("]");
}
