import { replaceFile } from "../base/atomic-write.js";
import { confirmWritten } from "./confirmed-files.js";
import { type EditResult, locked, readOrEmpty, refused } from "./edit-result.js";
import { readGrant } from "./grant-entry.js";
import type { ConfigNode } from "./node.js";
import { parseConfigText } from "./parse-yaml.js";
import { hermesPaths } from "./paths.js";
import type { AllowlistEntry, GrantEntry } from "./types.js";
import { addToList, removeFromList } from "./yaml-list-splice.js";

const KEY = "command_allowlist";

/** Adds what is not there yet to `command_allowlist` in the home config.yaml; every other byte stays. */
export function addGrants(change: {
  readonly home: string;
  readonly entries: readonly GrantEntry[];
  /** Whether an entry that is already written makes a new one needless. */
  covers(written: AllowlistEntry, wanted: GrantEntry): boolean;
}): Promise<EditResult> {
  return changeGrants(change.home, async (text, written) => {
    const missing = change.entries.filter(
      (wanted) => !written.some((entry) => entry !== undefined && change.covers(entry, wanted)),
    );
    return missing.length === 0 ? text : addToList(text, KEY, missing);
  });
}

/** Takes entries out of it; `changed` is false when none of them was there. */
export function removeGrants(change: {
  readonly home: string;
  chosen(entry: AllowlistEntry): boolean;
}): Promise<EditResult> {
  return changeGrants(change.home, async (text, written) => {
    const indexes = written.flatMap((entry, index) =>
      entry !== undefined && change.chosen(entry) ? [index] : [],
    );
    return indexes.length === 0 ? text : removeFromList(text, KEY, indexes);
  });
}

/** `written` has a hole for each entry that cannot be read, so that positions fit the file. */
type Change = (text: string, written: readonly (AllowlistEntry | undefined)[]) => Promise<string | undefined>;

function changeGrants(home: string, change: Change): Promise<EditResult> {
  const file = hermesPaths(home).config;
  return locked(file, async () => {
    const text = readOrEmpty(file);
    const parsed = await parseConfigText(text);
    if (!parsed.ok) {
      const where = parsed.place ? `${file}:${parsed.place.line}:${parsed.place.column}` : file;
      return refused("bad_request", `${where}: ${parsed.message}`, "fix the file first; nothing was written");
    }
    const node = parsed.root.entries.find((entry) => entry.name === KEY)?.node;
    const next = await change(text, readItems(node));
    if (next === undefined || !(await parseConfigText(next)).ok) {
      const line = node?.place === undefined ? "" : `:${node.place.line}`;
      const what = `${file}${line}: ${KEY} is written in a way that cannot be changed safely`;
      return refused("failed", what, "write it as a plain list, or change it by hand; nothing was written");
    }
    if (next !== text) {
      await replaceFile({ path: file, data: next, mode: text === "" ? 0o600 : undefined });
      await confirmWritten(home, file, next);
    }
    return { ok: true, file, key: KEY, changed: next !== text };
  });
}

function readItems(node: ConfigNode | undefined): (AllowlistEntry | undefined)[] {
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return [];
  const items = node.kind === "list" ? node.items : [node];
  return items.map((item) => readGrant(item, { at: KEY, report: () => {} }));
}
