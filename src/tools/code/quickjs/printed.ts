/** Keeps the first and the last of what is written, and sends on as much as would be kept. */
export class Printed {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head = "";
  #tail = "";
  #total = 0;
  #unsent = "";
  #sent = 0;

  constructor(maxChars: number) {
    this.#headLimit = Math.floor(maxChars * 0.4);
    this.#tailLimit = maxChars - this.#headLimit;
  }

  add(text: string): void {
    this.#total += text.length;
    const room = Math.max(0, this.#headLimit - this.#head.length);
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
    if (this.#tail.length > 2 * this.#tailLimit + 4_096) this.#tail = this.#tail.slice(-this.#tailLimit);
    const left = this.#headLimit + this.#tailLimit - this.#sent - this.#unsent.length;
    if (left > 0) this.#unsent += text.slice(0, left);
  }

  takeUnsent(): string {
    const text = this.#unsent;
    this.#sent += text.length;
    this.#unsent = "";
    return text;
  }

  text(): string {
    if (this.#total <= this.#headLimit + this.#tailLimit) return this.#head + this.#tail;
    const head = this.#head.replace(/[\ud800-\udbff]$/, "");
    const tail = this.#tail.slice(this.#tail.length - this.#tailLimit).replace(/^[\udc00-\udfff]/, "");
    const missing = this.#total - head.length - tail.length;
    return `${head}\n[... ${missing} of ${this.#total} characters omitted ...]\n${tail}`;
  }
}
