import { refusal } from "./limits.js";

const MAX_NAME_BYTES = 4_096;
const MAX_PART_BYTES = 255;

/**
 * The names of an archive's entries, each checked for whether it stays below the folder it is unpacked to and
 * leaves the others alone. Names that differ only in case or in how an accent is spelled are the same on many disks.
 */
export class EntryNames {
  readonly #archive: string;
  /** Folded name → what it is, and how it was written. */
  readonly #known = new Map<string, { readonly isFolder: boolean; readonly name: string }>();

  constructor(archive: string) {
    this.#archive = archive;
  }

  /** The name to unpack to, with slashes and without `.`; empty for the folder itself. */
  add(raw: string, isFolder: boolean): string {
    const parts = this.#safeParts(raw);
    for (let end = 1; end < parts.length; end++) this.#claim(parts.slice(0, end).join("/"), true);
    const name = parts.join("/");
    if (name === "" && isFolder) return "";
    if (name === "") throw this.#refuse(raw, "it is empty");
    this.#claim(name, isFolder);
    return name;
  }

  #safeParts(raw: string): readonly string[] {
    if (/[\p{Cc}]/u.test(raw)) throw this.#refuse(raw, "it holds control characters");
    if (raw.includes("\ufffd")) throw this.#refuse(raw, "it is not proper text");
    if (/^[/\\]/.test(raw) || /^[a-z]:/i.test(raw)) throw this.#refuse(raw, "it is an absolute path");
    if (raw.split(/[/\\]/).includes("..")) throw this.#refuse(raw, "it leads out of the folder");
    if (Buffer.byteLength(raw) > MAX_NAME_BYTES) throw this.#refuse(raw, "it is too long");
    const parts = raw.split("/").filter((part) => part !== "" && part !== ".");
    if (parts.some((part) => Buffer.byteLength(part) > MAX_PART_BYTES))
      throw this.#refuse(raw, "it is too long");
    return parts;
  }

  #claim(name: string, isFolder: boolean): void {
    const key = name.normalize("NFC").toLowerCase();
    const known = this.#known.get(key);
    if (known === undefined) {
      this.#known.set(key, { isFolder, name });
      return;
    }
    if (known.isFolder && isFolder && known.name === name) return;
    const what = known.name === name ? "there are two of that name" : `it would replace "${known.name}"`;
    throw this.#refuse(name, what);
  }

  #refuse(name: string, why: string): Error {
    return refusal(this.#archive, `its entry ${JSON.stringify(name.slice(0, 200))} is not safe: ${why}`);
  }
}
