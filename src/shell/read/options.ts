import type { ShellWord } from "../types.js";

/** A command's arguments told apart: options (clusters opened, `--long=value` split) and operands. */
export interface ParsedOptions {
  /** Every option given, without dashes: `r`, `f`, `recursive`. */
  readonly flags: ReadonlySet<string>;
  /** Values of options that take one, in order. */
  readonly values: ReadonlyMap<string, readonly ShellWord[]>;
  readonly operands: readonly ShellWord[];
}

/**
 * Reads options as GNU programs do: clusters, `--long=value`, `--`, options after operands. `taking` names
 * the options that consume the next word or the rest of their cluster. Unambiguous beginnings of the long
 * names in `long` count as the whole name.
 */
export function parseOptions(
  args: readonly ShellWord[],
  spec: {
    readonly taking?: ReadonlySet<string> | readonly string[];
    readonly long?: readonly string[];
  } = {},
): ParsedOptions {
  const taking: ReadonlySet<string> = spec.taking instanceof Set ? spec.taking : new Set(spec.taking);
  const flags = new Set<string>();
  const values = new Map<string, ShellWord[]>();
  const operands: ShellWord[] = [];
  const give = (name: string, value: ShellWord | undefined): void => {
    flags.add(name);
    if (value === undefined) return;
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  };
  for (let index = 0; index < args.length; index++) {
    const word = args[index] as ShellWord;
    const { text } = word;
    if (text === "--") {
      operands.push(...args.slice(index + 1));
      break;
    }
    if (text.startsWith("--")) {
      const cut = text.indexOf("=");
      const name = wholeName(cut < 0 ? text.slice(2) : text.slice(2, cut), spec.long);
      if (cut >= 0) give(name, { ...word, text: text.slice(cut + 1) });
      else give(name, taking.has(name) ? args[++index] : undefined);
    } else if (text.startsWith("-") && text.length > 1) {
      for (let at = 1; at < text.length; at++) {
        const name = text[at] as string;
        if (!taking.has(name)) {
          give(name, undefined);
          continue;
        }
        give(name, at + 1 < text.length ? { ...word, text: text.slice(at + 1) } : args[++index]);
        break;
      }
    } else operands.push(word);
  }
  return { flags, values, operands };
}

function wholeName(given: string, known: readonly string[] = []): string {
  if (given === "" || known.includes(given)) return given;
  const meant = known.filter((name) => name.startsWith(given));
  return meant.length === 1 && meant[0] !== undefined ? meant[0] : given;
}
