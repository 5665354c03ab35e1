import { type Characters, letterMask, writeCharacters } from "./characters.js";

/** Texts one after the other in two flat arrays: a hundred thousand small objects would cost far more. */
export class TextTable implements Characters {
  readonly codes: Uint16Array;
  readonly places: Uint8Array;
  /** Text n lies from starts[n] to starts[n + 1]. */
  readonly starts: Uint32Array;
  readonly masks: Int32Array;
  readonly size: number;

  constructor(texts: readonly string[]) {
    this.size = texts.length;
    this.starts = new Uint32Array(texts.length + 1);
    this.masks = new Int32Array(texts.length);
    let length = 0;
    for (const [index, text] of texts.entries()) {
      this.starts[index] = length;
      length += text.length;
    }
    this.starts[texts.length] = length;
    this.codes = new Uint16Array(length);
    this.places = new Uint8Array(length);
    for (const [index, text] of texts.entries()) {
      const start = this.starts[index] ?? 0;
      writeCharacters(text, start, this);
      this.masks[index] = letterMask(this.codes, start, start + text.length);
    }
  }
}

/** Paths prepared for many searches: names and folders apart, because far fewer folders than names differ. */
export class PathIndex {
  readonly paths: readonly string[];
  readonly size: number;
  readonly names: TextTable;
  readonly folders: TextTable;
  /** The folder of each path. */
  readonly folderOf: Uint32Array;
  /** Room for the search under way; a search never waits, so there is only one at a time. */
  readonly scores: Float64Array;
  readonly found: Uint32Array;

  constructor(paths: readonly string[]) {
    this.paths = paths;
    this.size = paths.length;
    this.folderOf = new Uint32Array(paths.length);
    this.scores = new Float64Array(paths.length);
    this.found = new Uint32Array(paths.length);
    const names: string[] = [];
    const folders: string[] = [];
    const known = new Map<string, number>();
    let lastFolder = "";
    let lastId = -1;
    for (const [index, path] of paths.entries()) {
      const cut = path.lastIndexOf("/") + 1;
      names.push(path.slice(cut));
      // Neighbours mostly share their folder, and comparing is cheaper than looking it up.
      if (lastId === -1 || lastFolder.length !== cut || !path.startsWith(lastFolder)) {
        lastFolder = path.slice(0, cut);
        lastId = known.get(lastFolder) ?? folders.push(lastFolder) - 1;
        known.set(lastFolder, lastId);
      }
      this.folderOf[index] = lastId;
    }
    this.names = new TextTable(names);
    this.folders = new TextTable(folders);
  }
}
