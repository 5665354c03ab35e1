import { lstatSync, readlinkSync } from "node:fs";

/** What the walk needs to know of one name; `unreadable` when the disk does not say. */
export type Seen =
  | { readonly kind: "missing" | "file" | "folder" | "unreadable" }
  | { readonly kind: "link"; readonly target: string };

export interface FileView {
  look(path: string): Seen;
}

export const realFiles: FileView = {
  look(path) {
    try {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats === undefined) return { kind: "missing" };
      if (stats.isSymbolicLink()) return { kind: "link", target: readlinkSync(path) };
      return { kind: stats.isDirectory() ? "folder" : "file" };
    } catch {
      return { kind: "unreadable" };
    }
  },
};

/** For places that are elsewhere (another machine, a container): names are compared as they are written. */
export const noFiles: FileView = { look: () => ({ kind: "missing" }) };

/**
 * A disk described in words, `dir /a; file /a/b; symlink /a/c -> b`, so that rules can be tried without making
 * files. Undefined when a step is not one of these.
 */
export function describedFiles(steps: string): FileView | undefined {
  const entries = new Map<string, Seen>([["/", { kind: "folder" }]]);
  for (const step of steps.split(";")) {
    const text = step.trim();
    if (text === "") continue;
    const [, what, path = "", target] =
      /^(symlink) (\/.*?) -> (.+)$/.exec(text) ?? /^(dir|file) (\/.*)$/.exec(text) ?? [];
    if (what === undefined) return undefined;
    const parents = path.split("/").slice(1, -1);
    parents.forEach((_, index) => {
      const parent = `/${parents.slice(0, index + 1).join("/")}`;
      if (!entries.has(parent)) entries.set(parent, { kind: "folder" });
    });
    entries.set(
      path.replace(/\/+$/, ""),
      target === undefined ? { kind: what === "dir" ? "folder" : "file" } : { kind: "link", target },
    );
  }
  return { look: (path) => entries.get(path) ?? { kind: "missing" } };
}
