import { compileGlob, type Glob, type GlobOptions, segmentsOf } from "../../base/glob.js";
import type { FileView } from "./file-view.js";
import { resolvePath } from "./resolve-path.js";

export interface PathQuestion {
  /** Patterns of what is open; an empty list opens nothing, no list at all opens everything. */
  readonly allow?: readonly string[] | undefined;
  /** Patterns of what is closed, whatever `allow` says. */
  readonly deny?: readonly string[] | undefined;
  /** As it was written; anything but a usable path is refused. */
  readonly path: unknown;
  readonly cwd: string;
  readonly home: string;
  /** `read`, `write`, `delete` …; for the words of the reason. */
  readonly op?: string;
  /** The disk that links are followed on; this machine's when left out. */
  readonly files?: FileView | undefined;
  /** Close also what a closed name leads to, when it is a link itself. */
  readonly followDeny?: boolean;
}

export interface PathVerdict {
  readonly verdict: "allow" | "deny";
  /** `allow:PATTERN`, `deny:PATTERN`, `outside`, or `path:WHY` for a path that cannot be judged. */
  readonly rule: string;
  readonly reason: string;
  /** Where it leads; null when nobody can say. */
  readonly resolved: string | null;
  /** The pattern that decided, when one did. */
  readonly pattern?: string | undefined;
}

/**
 * Judges one path by patterns. Open is what is open under its name and in every place it leads to, with case;
 * closed is what is closed under any of them, without case and after NFC. Closed wins.
 */
export function judgePath(question: PathQuestion): PathVerdict {
  const { allow, deny = [], cwd, home, op = "write", files } = question;
  const found = resolvePath({ path: question.path, cwd, home, files });
  if (!found.ok) {
    return { verdict: "deny", rule: `path:${found.rule}`, reason: found.reason, resolved: null };
  }
  const resolved = found.places[0] ?? found.name;
  const spellings = [...new Set([found.name, ...found.places])].map(segmentsOf);
  for (const pattern of deny) {
    const glob = globOf(pattern, { cwd, home, purpose: "deny" });
    const closed = glob === undefined || spellings.some((segments) => glob.matches(segments));
    if (closed || (question.followDeny === true && leadsInto(pattern, spellings, question))) {
      const why = glob === undefined ? "cannot be understood" : "closes it";
      const reason = `Path ${found.name} is not open for ${op}: ${JSON.stringify(pattern)} ${why}`;
      return { verdict: "deny", rule: `deny:${pattern}`, reason, resolved, pattern };
    }
  }
  if (allow === undefined) return { verdict: "allow", rule: "open", reason: "", resolved };
  const globs = allow.flatMap((pattern) => globOf(pattern, { cwd, home, purpose: "allow" }) ?? []);
  const opening = spellings.map((segments) => globs.find((glob) => glob.matches(segments)));
  const [first] = opening;
  if (first !== undefined && !opening.includes(undefined)) {
    return { verdict: "allow", rule: `allow:${first.source}`, reason: "", resolved, pattern: first.source };
  }
  const led = resolved === found.name ? "" : `, it leads to ${resolved}`;
  const reason = `Path ${found.name} is outside the allowed ${op} scope${led}`;
  return { verdict: "deny", rule: "outside", reason, resolved };
}

/** A closed name may itself be a link; then the place behind it is closed too. */
function leadsInto(
  pattern: string,
  spellings: readonly (readonly string[])[],
  { cwd, home, files }: PathQuestion,
): boolean {
  const parts = pattern.split("/");
  const wild = parts.findIndex((part) => /[*?[{\\]/.test(part));
  const fixed = (wild === -1 ? parts : parts.slice(0, wild)).join("/");
  const tail = wild === -1 ? "" : `/${parts.slice(wild).join("/")}`;
  if (!/^[/~]./.test(fixed)) return false;
  const found = resolvePath({ path: fixed, cwd, home, files });
  if (!found.ok) return false;
  return found.places.some((place) => {
    if (place === found.name) return false;
    const target = place.replace(/[\\*?[\]{}]/g, "\\$&");
    const glob = globOf(target + tail, { cwd, home, purpose: "deny" });
    return glob !== undefined && spellings.some((segments) => glob.matches(segments));
  });
}

const compiled = new Map<string, Glob | undefined>();
const MOST_COMPILED = 2000;

/** Rules are few and asked again and again. */
export function globOf(pattern: string, options: GlobOptions): Glob | undefined {
  const key = [options.purpose, options.cwd, options.home, pattern].join("\0");
  if (compiled.has(key)) return compiled.get(key);
  const glob = compileGlob(pattern, options);
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  compiled.set(key, glob);
  return glob;
}
