const JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"';

/** A program that first puts itself into groups of the kernel, for those who cannot do it on its behalf. */
export function joining(argv: readonly string[], joinFiles: readonly string[]): readonly string[] {
  return joinFiles.length === 0 ? argv : ["/bin/sh", "-c", JOIN, "sh", ...joinFiles, "--", ...argv];
}
