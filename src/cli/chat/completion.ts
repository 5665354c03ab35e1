import { readdir } from "node:fs/promises";
import { join } from "node:path";

const MOST = 50;

/** Ways to go on with what stands before the caret. */
export interface Completion {
  /** How many characters before the caret they take the place of. */
  readonly length: number;
  readonly choices: readonly { readonly text: string; readonly about?: string | undefined }[];
}

export interface Completable {
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly cwd: string;
}

/** `/command` at the beginning, `@file` anywhere; undefined where there is nothing to complete. */
export async function completionFor(
  before: string,
  { commands, cwd }: Completable,
): Promise<Completion | undefined> {
  const [command] = /^\/\S*$/.exec(before) ?? [];
  if (command !== undefined) {
    const choices = commands
      .filter(({ name }) => `/${name}`.startsWith(command))
      .map(({ name, about }) => ({ text: `/${name} `, about }));
    return choices.length === 0 ? undefined : { length: command.length, choices };
  }
  const [, path] = /(?:^|\s)@(\S*)$/.exec(before) ?? [];
  if (path === undefined) return undefined;
  const choices = (await filesLike(path, cwd)).map((file) => ({
    text: `@${file}${file.endsWith("/") ? "" : " "}`,
  }));
  return choices.length === 0 ? undefined : { length: path.length + 1, choices };
}

async function filesLike(path: string, cwd: string): Promise<readonly string[]> {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const begun = path.slice(folder.length);
  const entries = await readdir(join(cwd, folder), { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => name.toLowerCase().startsWith(begun.toLowerCase()))
    .filter(({ name }) => begun.startsWith(".") || !name.startsWith("."))
    .filter(({ name }) => !/[\s\p{C}]/u.test(name))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`)
    .sort()
    .slice(0, MOST);
}

/** What all of them begin with: as far as one Tab can go. */
export function commonStart(texts: readonly string[]): string {
  const [first = "", ...others] = texts;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
