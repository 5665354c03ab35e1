import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";
import { ToolError } from "../../tool/errors.js";
import { compileLinear } from "../../tool/safe-pattern.js";

const MAX_LINE_CHARS = 4_096;
/** Matching costs about 0.1 µs a character: a flood must not take the whole event loop. */
const BYTES_PER_SECOND = 1_048_576;

/** Looks at each whole line of a stream; the end of a very long one is not looked at. */
export class LineWatch {
  readonly #patterns: readonly RegExp[];
  readonly #onMatch: (line: string) => void;
  readonly #now: () => number;
  readonly #decoder = new StringDecoder("utf8");
  #line = "";
  #allowance = BYTES_PER_SECOND;
  #filledAt: number;

  constructor(options: {
    readonly patterns: readonly RegExp[];
    readonly onMatch: (line: string) => void;
    readonly now?: () => number;
  }) {
    this.#patterns = options.patterns;
    this.#onMatch = options.onMatch;
    this.#now = options.now ?? (() => performance.now());
    this.#filledAt = this.#now();
  }

  push(bytes: Uint8Array): void {
    if (!this.#isWithinAllowance(bytes.length)) {
      this.#line = "";
      return;
    }
    const text = this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      this.#look(this.#line + text.slice(from, end));
      this.#line = "";
      from = end + 1;
    }
    if (this.#line.length < MAX_LINE_CHARS) this.#line += text.slice(from, from + MAX_LINE_CHARS);
  }

  /** Also what stands there without a new line, once the stream pauses or ends. */
  flush(): void {
    if (this.#line !== "") this.#look(this.#line);
  }

  #look(raw: string): void {
    const line = stripVTControlCharacters(raw.slice(0, MAX_LINE_CHARS)).replace(/\r$/, "");
    if (this.#patterns.some((pattern) => pattern.test(line))) this.#onMatch(line);
  }

  #isWithinAllowance(bytes: number): boolean {
    const now = this.#now();
    const refill = ((now - this.#filledAt) / 1000) * BYTES_PER_SECOND;
    this.#allowance = Math.min(BYTES_PER_SECOND, this.#allowance + refill);
    this.#filledAt = now;
    if (bytes > this.#allowance) return false;
    this.#allowance -= bytes;
    return true;
  }
}

/** In RE2's syntax, so that no pattern of a model can take long. */
export function compilePatterns(patterns: readonly string[], field: string): readonly RegExp[] {
  return patterns.map((pattern) => {
    const compiled = compileLinear(pattern);
    if (compiled !== undefined) return compiled;
    throw new ToolError(`${field}: ${JSON.stringify(pattern)} is not a pattern that can be used.`, {
      code: "invalid_arguments",
      hint: "Use a regular expression without look-around or back-references; escape special characters with \\.",
    });
  });
}

/** Resolves with the first line that matches, whole or not; undefined when nothing is looked for. */
export function firstMatch(
  listen: (listener: (bytes: Uint8Array) => void) => () => void,
  patterns: readonly RegExp[],
): Promise<string> | undefined {
  if (patterns.length === 0) return undefined;
  return new Promise((resolve) => {
    const watch = new LineWatch({
      patterns,
      onMatch: (line) => {
        stop();
        resolve(line);
      },
    });
    const stop = listen((bytes) => {
      watch.push(bytes);
      watch.flush();
    });
  });
}
