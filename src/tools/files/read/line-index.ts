import { LruMap } from "../../../base/lru.js";
import type { FileStat } from "../../../env/environment.js";
import type { Kept } from "../../../tool/tool.js";
import type { LinePosition } from "../lines.js";
import type { TextEncoding } from "../text-encoding.js";

const MAX_FILES = 64;
/** A change within one tick of the file system's clock would not show in the time of a file. */
const SETTLED_MS = 2_000;

interface IndexedFile {
  readonly fingerprint: string;
  /** In the order of the file, about one per megabyte. */
  readonly positions: LinePosition[];
  total?: number;
  encoding?: TextEncoding;
}

/** Where lines begin in the large files that a session pages through, so that no page is counted twice. */
export class LineIndex implements Kept {
  readonly #files = new LruMap<string, IndexedFile>(MAX_FILES);

  /** The last known beginning of a line at or before this one. */
  nearest(file: string, stat: FileStat, line: number): LinePosition | undefined {
    const positions = this.#of(file, stat)?.positions ?? [];
    let low = 0;
    let high = positions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((positions[middle]?.line ?? 0) <= line) low = middle + 1;
      else high = middle;
    }
    return positions[low - 1];
  }

  totalLines(file: string, stat: FileStat): number | undefined {
    return this.#of(file, stat)?.total;
  }

  note(file: string, stat: FileStat, position: LinePosition): void {
    const known = this.#of(file, stat) ?? this.#begin(file, stat);
    const last = known?.positions.at(-1);
    if (known !== undefined && (last === undefined || last.byte < position.byte)) {
      known.positions.push(position);
    }
  }

  noteTotal(file: string, stat: FileStat, lines: number): void {
    const known = this.#of(file, stat) ?? this.#begin(file, stat);
    if (known !== undefined) known.total = lines;
  }

  encoding(file: string, stat: FileStat): TextEncoding | undefined {
    return this.#of(file, stat)?.encoding;
  }

  noteEncoding(file: string, stat: FileStat, encoding: TextEncoding): void {
    const known = this.#of(file, stat) ?? this.#begin(file, stat);
    if (known !== undefined) known.encoding = encoding;
  }

  close(): void {
    this.#files.clear();
  }

  #of(file: string, stat: FileStat): IndexedFile | undefined {
    const known = this.#files.get(file);
    if (known === undefined || known.fingerprint === fingerprint(stat)) return known;
    this.#files.delete(file);
    return undefined;
  }

  #begin(file: string, stat: FileStat): IndexedFile | undefined {
    if (Date.now() - stat.mtimeMs < SETTLED_MS) return undefined;
    const begun: IndexedFile = { fingerprint: fingerprint(stat), positions: [] };
    this.#files.set(file, begun);
    return begun;
  }
}

function fingerprint(stat: FileStat): string {
  return `${stat.inode}:${stat.size}:${stat.mtimeMs}`;
}
