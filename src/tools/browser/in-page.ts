/** A script of the folder beside this, called with its argument: text, since the page has none of this program's code. */
export function inPage(script: string, argument?: unknown): string {
  const called = script.trim().replace(/;$/, "");
  return `(${called})(${argument === undefined ? "" : JSON.stringify(argument)})`;
}
