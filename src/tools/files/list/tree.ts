import { sizeText } from "../../../base/human.js";
import { visible } from "../../../base/visible-text.js";
import { mark } from "../../../tool/marked-text.js";

export interface TreeEntry {
  readonly path: string;
  readonly type: string;
  readonly size?: number | undefined;
  readonly size_is_lower_bound?: true | undefined;
  readonly mtime?: string | undefined;
  readonly git?: string | undefined;
  readonly target?: string | undefined;
  readonly ignored?: true | undefined;
}

interface Node {
  readonly name: string;
  entry?: TreeEntry;
  readonly children: Map<string, Node>;
}

const GIT_LETTERS: Readonly<Record<string, string>> = {
  modified: "M",
  added: "A",
  deleted: "D",
  renamed: "R",
  untracked: "?",
  conflicted: "U",
};

export interface TreeOptions {
  readonly times: boolean;
}

/** For a model: two blanks per level, nothing that could be left out. */
export function compactTree(entries: readonly TreeEntry[], options: TreeOptions): string {
  const lines: string[] = [];
  const add = (node: Node, indent: string): void => {
    for (const child of node.children.values()) {
      const { entry } = child;
      const facts = entry === undefined ? [] : factsOf(entry, options);
      lines.push([`${indent}${nameOf(child)}`, ...facts].join("  "));
      add(child, `${indent}  `);
    }
  };
  add(grow(entries), "");
  return lines.join("\n");
}

/** For a person: drawn branches, and colours for what things are. */
export function drawnTree(entries: readonly TreeEntry[], options: TreeOptions): string {
  const lines: string[] = [];
  const add = (node: Node, indent: string): void => {
    const children = [...node.children.values()];
    children.forEach((child, at) => {
      const last = at === children.length - 1;
      const facts = child.entry === undefined ? [] : factsOf(child.entry, options).map(mark.dim);
      const branch = mark.dim(`${indent}${last ? "└── " : "├── "}`);
      lines.push(`${branch}${[coloured(child), ...facts].join("  ")}`);
      add(child, `${indent}${last ? "    " : "│   "}`);
    });
  };
  add(grow(entries), "");
  return lines.join("\n");
}

function grow(entries: readonly TreeEntry[]): Node {
  const root: Node = { name: "", children: new Map() };
  for (const entry of entries) {
    let node = root;
    for (const name of entry.path.split("/")) {
      let child = node.children.get(name);
      if (child === undefined) {
        child = { name, children: new Map() };
        node.children.set(name, child);
      }
      node = child;
    }
    node.entry = entry;
  }
  return root;
}

/** A line break or an escape code in a name must not be able to draw a tree of its own. */
function nameOf({ name, entry }: Node): string {
  const safe = visible(name);
  if (entry === undefined || entry.type === "directory") return `${safe}/`;
  return entry.type === "symlink" ? `${safe} -> ${visible(entry.target ?? "?")}` : safe;
}

function coloured(node: Node): string {
  const { entry } = node;
  const name = nameOf(node);
  if (entry?.ignored === true) return mark.dim(name);
  switch (entry?.git) {
    case "modified":
    case "renamed":
      return mark.warning(name);
    case "added":
    case "untracked":
      return mark.added(name);
    case "conflicted":
      return mark.bad(name);
  }
  return entry === undefined || entry.type === "directory" ? mark.path(name) : name;
}

function factsOf(entry: TreeEntry, { times }: TreeOptions): string[] {
  const facts: string[] = [];
  if (entry.size !== undefined)
    facts.push(`${sizeText(entry.size, "short")}${entry.size_is_lower_bound ? "+" : ""}`);
  if (times && entry.mtime !== undefined) facts.push(entry.mtime.slice(0, 16).replace("T", " "));
  if (entry.git !== undefined) facts.push(GIT_LETTERS[entry.git] ?? entry.git);
  if (entry.ignored === true) facts.push("ignored");
  if (entry.type === "other") facts.push("device, pipe or socket");
  return facts;
}
