import { LruMap } from "../../../base/lru.js";
import type { FileStat } from "../../../env/environment.js";
import type { Kept } from "../../../tool/tool.js";

const MAX_DOCUMENTS = 4;
const MAX_CHARS = 8 * 1024 * 1024;
/** A change within one tick of the file system's clock would not show in the time of a file. */
const SETTLED_MS = 2_000;

/** Texts made of documents, kept so that the next page of one does not mean converting it again. */
export class ConvertedTexts implements Kept {
  readonly #texts = new LruMap<string, { readonly fingerprint: string; readonly text: string }>(
    MAX_DOCUMENTS,
  );

  /** The text of this very state of the file, made only when it is not known. */
  async of(file: string, stat: FileStat, convert: () => Promise<string>): Promise<string> {
    const fingerprint = `${stat.inode}:${stat.size}:${stat.mtimeMs}`;
    const known = this.#texts.get(file);
    if (known?.fingerprint === fingerprint) return known.text;
    const text = await convert();
    this.#texts.delete(file);
    const settled = Date.now() - stat.mtimeMs >= SETTLED_MS;
    if (settled && text.length <= MAX_CHARS) this.#texts.set(file, { fingerprint, text });
    return text;
  }

  close(): void {
    this.#texts.clear();
  }
}
