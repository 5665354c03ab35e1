import type { CodeToken } from "./code-tokens.js";
import type { CodeValue } from "./code-values.js";

/** Remembers what the names of an import statement of Python or JavaScript stand for. */
export function bindImports(line: readonly CodeToken[], bindings: Map<string, CodeValue>): void {
  const modules = line.filter(({ kind }) => kind === "text");
  const source = modules
    .at(-1)
    ?.text.replace(/^node:/, "")
    .replaceAll("/", ".");
  const words = line.map(({ text }) => text);
  const bind = (local: string, name: string): void => {
    bindings.set(local, { kind: "name", name });
  };
  if (source !== undefined) {
    bindPairs(words.slice(1, words.indexOf("from")), (name, local) =>
      bind(local, name === "*" || !words.includes("{") ? source : `${source}.${name}`),
    );
    return;
  }
  const [first, ...rest] = words;
  if (first === "from") {
    const cut = rest.indexOf("import");
    const module = rest.slice(0, cut).join("");
    bindPairs(rest.slice(cut + 1), (name, local) => bind(local, `${module}.${name}`));
    return;
  }
  for (const part of rest.join(" ").split(",")) {
    const [module = "", local] = part.trim().split(" as ");
    const name = module.replaceAll(" ", "");
    if (local !== undefined) bind(local.trim(), name);
  }
}

/** `a, b as c` → (a, a), (b, c). */
function bindPairs(words: readonly string[], bind: (name: string, local: string) => void): void {
  for (const part of words
    .join(" ")
    .replace(/[(){}\n]/g, " ")
    .split(",")) {
    const [name = "", local] = part.trim().split(/\s+as\s+/);
    if (name !== "") bind(name.trim(), (local ?? name).trim());
  }
}
