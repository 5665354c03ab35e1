import type { CodeToken, Cursor } from "./tokens.js";
import type { CodeValue } from "./values.js";

/** No real statement of this kind is longer. */
const LONGEST = 80;

/** `import os as o`, `from os import system as s`, `import {exec} from "child_process"`: the tokens of it. */
export function importLine(cursor: Cursor): readonly CodeToken[] | undefined {
  const word = cursor.peek();
  if (word?.kind !== "name" || (word.text !== "import" && word.text !== "from")) return undefined;
  const before = cursor.peek(-1);
  if (before !== undefined && !(before.kind === "sign" && /^[\n;:{}(,]$/.test(before.text))) return undefined;
  if (cursor.isSign("(", 1)) return undefined;
  const line: CodeToken[] = [];
  let depth = 0;
  for (
    let token = cursor.peek();
    token !== undefined && line.length < LONGEST;
    token = cursor.peek(line.length)
  ) {
    if (token.kind === "sign" && /^[({]$/.test(token.text)) depth++;
    if (token.kind === "sign" && /^[)}]$/.test(token.text)) depth--;
    if (depth <= 0 && token.kind === "sign" && /^[\n;]$/.test(token.text)) break;
    line.push(token);
  }
  return line;
}

/** `const {execSync: run} =`: what is picked under which name, and how many tokens that takes. */
export function destructuredNames(
  cursor: Cursor,
):
  | { readonly names: readonly (readonly [name: string, local: string])[]; readonly length: number }
  | undefined {
  const declared = /^(?:const|let|var)$/.test(cursor.peek()?.text ?? "") ? 1 : 0;
  if (!cursor.isSign("{", declared)) return undefined;
  const names: [string, string][] = [];
  let index = declared + 1;
  for (; index < LONGEST; index++) {
    const token = cursor.peek(index);
    if (token === undefined || (token.kind === "sign" && !/^[,:}]$/.test(token.text))) return undefined;
    if (token.text === "}") break;
    if (token.kind !== "name") continue;
    const renamed = cursor.isSign(":", index + 1) ? cursor.peek(index + 2) : undefined;
    names.push([token.text, renamed?.text ?? token.text]);
    if (renamed !== undefined) index += 2;
  }
  return cursor.isSign("=", index + 1) ? { names, length: index + 2 } : undefined;
}

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
