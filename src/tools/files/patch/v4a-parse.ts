/** One line of a hunk: kept, added or removed. */
export interface HunkLine {
  readonly op: " " | "+" | "-";
  readonly text: string;
}

export interface Hunk {
  /** Text after "@@": lines to find first, each behind the one before. */
  readonly anchors: readonly string[];
  readonly lines: readonly HunkLine[];
  readonly atEnd: boolean;
}

export type PatchOperation =
  | { readonly kind: "add"; readonly path: string; readonly content: string }
  | { readonly kind: "delete"; readonly path: string }
  | {
      readonly kind: "update";
      readonly path: string;
      readonly moveTo?: string;
      readonly hunks: readonly Hunk[];
    };

export type ParsedPatch =
  | { readonly ok: true; readonly operations: readonly PatchOperation[] }
  | { readonly ok: false; readonly message: string; readonly hint: string };

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
const HEADER = /^\*\*\* (Update|Add|Delete|Move) File: (.*)$/;
const MOVE_TO = /^\*\*\* Move to: (.*)$/;
const END_OF_FILE = "*** End of File";
const FORMAT_HINT =
  "Expected: *** Begin Patch, then *** Update File: path with @@ and lines that start with a blank, + or -, then *** End Patch.";

class PatchSyntaxError extends Error {}

/** Reads the V4A patch format. Pure, so that effects can be told from it before anything runs. */
export function parseV4a(patch: string): ParsedPatch {
  try {
    return { ok: true, operations: new Reader(patch).operations() };
  } catch (error) {
    if (!(error instanceof PatchSyntaxError)) throw error;
    return { ok: false, message: error.message, hint: FORMAT_HINT };
  }
}

class Reader {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(patch: string) {
    const lines = patch.replaceAll("\r\n", "\n").split("\n");
    const begin = lines.findIndex((line) => line.trim() === BEGIN);
    if (begin === -1) throw new PatchSyntaxError(`The patch has no "${BEGIN}" line.`);
    const end = lines.findIndex((line, index) => index > begin && line.trim() === END);
    // Without the end a patch may have been cut off; applying half of it would be worse than none.
    if (end === -1) throw new PatchSyntaxError(`The patch has no "${END}" line; it may be cut off.`);
    this.#lines = lines.slice(begin + 1, end);
  }

  operations(): PatchOperation[] {
    const operations: PatchOperation[] = [];
    for (let line = this.#next(); line !== undefined; line = this.#next()) {
      if (line.trim() === "" && operations.length === 0) continue;
      const [, action, target = ""] = HEADER.exec(line.trimEnd()) ?? [];
      const path = target.trim();
      if (action === undefined)
        throw this.#error(`expected a "*** … File:" header, found "${line.slice(0, 80)}"`);
      if (path === "") throw this.#error("the header names no file");
      operations.push(this.#operation(action, path));
    }
    if (operations.length === 0) throw new PatchSyntaxError("The patch changes no file.");
    return operations;
  }

  #operation(action: string, path: string): PatchOperation {
    if (action === "Add") return { kind: "add", path, content: this.#addedContent() };
    if (action === "Delete") {
      this.#skipBlank();
      return { kind: "delete", path };
    }
    if (action === "Update") return this.#update(path);
    const [from = "", to = "", ...rest] = path.split(/\s+->\s+/);
    if (to === "" || rest.length > 0) throw this.#error('a move is written "*** Move File: old -> new"');
    return this.#update(from, to);
  }

  #addedContent(): string {
    const lines: string[] = [];
    for (let line = this.#peek(); line !== undefined && !HEADER.test(line); line = this.#peek()) {
      this.#at++;
      if (line.startsWith("+")) lines.push(line.slice(1));
      else if (line.trim() === "" && this.#restIsBlankUntilHeader()) break;
      else throw this.#error('every line of an added file starts with "+"');
    }
    this.#skipBlank();
    return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
  }

  #update(path: string, movedTo?: string): PatchOperation {
    let moveTo = movedTo;
    const target = MOVE_TO.exec(this.#peek() ?? "")?.[1]?.trim();
    if (target !== undefined) {
      this.#at++;
      moveTo = target;
    }
    const hunks: Hunk[] = [];
    this.#skipBlank();
    while (this.#peek() !== undefined && !HEADER.test(this.#peek() ?? "")) hunks.push(this.#hunk());
    if (hunks.length === 0 && moveTo === undefined)
      throw this.#error(`the update of ${path} holds no change`);
    return moveTo === undefined ? { kind: "update", path, hunks } : { kind: "update", path, moveTo, hunks };
  }

  #hunk(): Hunk {
    const anchors: string[] = [];
    for (let line = this.#peek(); line?.startsWith("@@"); line = this.#peek()) {
      this.#at++;
      const anchor = line
        .slice(2)
        .replace(/\s*@@\s*$/, "")
        .trim();
      // Line numbers of a unified diff are no text of the file, and what follows them is cut off at will.
      if (anchor !== "" && !/^-\d+(,\d+)? \+\d+(,\d+)?( @@.*)?$/.test(anchor)) anchors.push(anchor);
    }
    const lines: HunkLine[] = [];
    let atEnd = false;
    for (let line = this.#peek(); line !== undefined && !line.startsWith("@@"); line = this.#peek()) {
      if (HEADER.test(line)) break;
      this.#at++;
      if (line.trim() === END_OF_FILE) {
        atEnd = true;
        this.#skipBlank();
        break;
      }
      if (line === "" && this.#restIsBlankUntilHeader()) break;
      lines.push(this.#hunkLine(line));
    }
    if (!lines.some((line) => line.op !== " ")) throw this.#error("a hunk neither adds nor removes a line");
    return { anchors, lines, atEnd };
  }

  #hunkLine(line: string): HunkLine {
    // Editors and models drop the single blank of an empty context line.
    if (line === "") return { op: " ", text: "" };
    const op = line[0];
    if (op === " " || op === "+" || op === "-") return { op, text: line.slice(1) };
    throw this.#error(`a hunk line must start with a blank, "+" or "-", found "${line.slice(0, 80)}"`);
  }

  #restIsBlankUntilHeader(): boolean {
    for (let index = this.#at; index < this.#lines.length; index++) {
      const line = this.#lines[index] ?? "";
      if (HEADER.test(line)) return true;
      if (line.trim() !== "") return false;
    }
    return true;
  }

  #skipBlank(): void {
    while (this.#peek()?.trim() === "") this.#at++;
  }

  #peek(): string | undefined {
    return this.#lines[this.#at];
  }

  #next(): string | undefined {
    return this.#lines[this.#at++];
  }

  #error(message: string): PatchSyntaxError {
    return new PatchSyntaxError(`The patch is malformed near its line ${this.#at + 1}: ${message}.`);
  }
}
