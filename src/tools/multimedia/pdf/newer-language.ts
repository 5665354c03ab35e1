/**
 * pdf.js uses two methods that the language has and Node 20 has not. Without them it leaves out pictures, silently, and
 * cannot read files in parts.
 */
export function bringNewerLanguage(): void {
  const iterators: object = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
  bring(iterators, "find", function (this: Iterable<unknown>, matches: (value: unknown) => unknown) {
    for (const value of this) if (matches(value)) return value;
    return undefined;
  });
  // The old buffer stays as it is; nobody looks at it again.
  bring(ArrayBuffer.prototype, "transferToFixedLength", function (this: ArrayBuffer, length?: number) {
    if (length === undefined || length <= this.byteLength) return this.slice(0, length);
    const longer = new ArrayBuffer(length);
    new Uint8Array(longer).set(new Uint8Array(this));
    return longer;
  });
}

function bring(prototype: object, name: string, value: unknown): void {
  if (!(name in prototype))
    Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
}
