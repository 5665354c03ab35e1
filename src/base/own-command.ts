import { basename, delimiter, dirname, isAbsolute, relative, sep } from "node:path";

/** Works anywhere once the package is published; `npx hermes` would fetch a stranger's package. */
const PUBLISHED = "npx -y hermes-tools";

/**
 * How a person starts this program where they stand: `hermes` when it is on their PATH, the file of a clone that is
 * not, or the published package.
 */
export function ownCommand({
  script = process.argv[1] ?? "",
  cwd = process.cwd(),
  path = process.env.PATH ?? "",
}: {
  readonly script?: string;
  readonly cwd?: string;
  readonly path?: string;
} = {}): string {
  if (script.includes(`${sep}_npx${sep}`)) return PUBLISHED;
  const name = basename(script);
  if (/^hermes(?:-tools)?$/.test(name) && path.split(delimiter).includes(dirname(script))) return name;
  if (!script.endsWith(["dist", "cli", "main.js"].join(sep)) || script.includes(`${sep}node_modules${sep}`)) {
    return PUBLISHED;
  }
  const below = relative(cwd, script);
  const file = below.startsWith("..") || isAbsolute(below) ? script : below;
  return `node ${/[^\w./\\:@-]/.test(file) ? JSON.stringify(file) : file}`;
}
