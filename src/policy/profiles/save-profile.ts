import { replaceFile } from "../../base/atomic-write.js";
import { confirmWritten } from "../../config/confirmed-files.js";
import { type EditResult, locked, readOrEmpty, refused } from "../../config/edit-result.js";
import { parseConfigText } from "../../config/parse-yaml.js";
import { hermesPaths } from "../../config/paths.js";

/** Puts a profile that was proposed into the permissions of the home; everything else in the file stays as it is. */
export async function saveProfile(profile: {
  readonly home: string;
  readonly name: string;
  /** A file of permissions that holds it. */
  readonly yaml: string;
}): Promise<EditResult> {
  const { home, name, yaml } = profile;
  const file = hermesPaths(home).permissions;
  return locked(file, async () => {
    const text = readOrEmpty(file);
    const before = await parseConfigText(text);
    if (!before.ok) {
      const where = before.place ? `${file}:${before.place.line}:${before.place.column}` : file;
      return refused("bad_request", `${where}: ${before.message}`, "fix the file first; nothing was written");
    }
    const next = text.trim() === "" ? yaml : await merged(text, name, yaml);
    if (next !== text) {
      await replaceFile({ path: file, data: next, mode: text === "" ? 0o600 : undefined });
      await confirmWritten(home, file, next);
    }
    return { ok: true, file, key: `profiles.${name}`, changed: next !== text };
  });
}

async function merged(text: string, name: string, yaml: string): Promise<string> {
  const { parseDocument } = await import("yaml");
  const doc = parseDocument(text.replace(/^\uFEFF/, ""));
  const added = parseDocument(yaml).getIn(["profiles", name], true);
  if (doc.get("profiles") === null) doc.delete("profiles");
  doc.setIn(["profiles", name], added);
  return doc.toString({ lineWidth: 0, flowCollectionPadding: false });
}
