/** Tests relative paths against a glob: by file name, or by whole path when the glob names folders. */
export async function globMatcher(glob: string): Promise<(path: string) => boolean> {
  const { default: picomatch } = await import("picomatch");
  const pattern = glob.replace(/^\.?\//, "");
  const byName = !pattern.includes("/");
  const matches = picomatch(byName ? pattern : [pattern, `**/${pattern}`], { dot: true });
  return (path) => matches(byName ? path.slice(path.lastIndexOf("/") + 1) : path);
}

export function isGlob(pattern: string): boolean {
  return /[*?[\]{}]/.test(pattern);
}
