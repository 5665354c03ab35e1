import type { CodeToken } from "./tokens.js";

/** A place in a list of tokens that only moves forward. */
export class Cursor {
  readonly #tokens: readonly CodeToken[];
  at = 0;

  constructor(tokens: readonly CodeToken[]) {
    this.#tokens = tokens;
  }

  get done(): boolean {
    return this.at >= this.#tokens.length;
  }

  peek(ahead = 0): CodeToken | undefined {
    return this.#tokens[this.at + ahead];
  }

  isSign(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token?.kind === "sign" && token.text === text;
  }

  /** The text of the token here; steps over it. */
  take(): string {
    const text = this.peek()?.text ?? "";
    this.at++;
    return text;
  }

  skipLines(): void {
    while (this.isSign("\n")) this.at++;
  }
}
