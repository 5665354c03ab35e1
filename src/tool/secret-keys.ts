const MASK = "[REDACTED PRIVATE KEY]";
const HEADER = /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
const FOOTER = /-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
/** What stands between header and footer: base64, line ends also in their escaped form, and header fields. */
const BODY_CHAR = /[A-Za-z0-9+/=\s\\:,-]/;

/**
 * Masks private keys in PEM form, also where only the beginning or only the end is in the text. Written as
 * a scan because "header, anything, footer" as one expression is quadratic when footers are missing.
 */
export function maskPrivateKeys(text: string): string {
  if (!text.includes("PRIVATE KEY")) return text;
  const headers = [...text.matchAll(HEADER)];
  const footers = [...text.matchAll(FOOTER)];
  let result = "";
  let copied = 0;
  let nextFooter = 0;
  for (const header of headers) {
    if (header.index < copied) continue;
    const bodyStart = header.index + header[0].length;
    nextFooter = maskStrayFooters({ from: nextFooter, before: header.index });
    const footer = footers[nextFooter];
    result += text.slice(copied, header.index) + MASK;
    if (footer === undefined) copied = bodyEnd(text, bodyStart);
    else {
      copied = footer.index + footer[0].length;
      nextFooter += 1;
    }
  }
  maskStrayFooters({ from: nextFooter, before: text.length });
  return result + text.slice(copied);

  function maskStrayFooters({ from, before }: { from: number; before: number }): number {
    let index = from;
    for (; index < footers.length; index++) {
      const footer = footers[index];
      if (footer === undefined || footer.index >= before) break;
      if (footer.index < copied) continue;
      result += text.slice(copied, bodyStartBefore({ text, end: footer.index, least: copied })) + MASK;
      copied = footer.index + footer[0].length;
    }
    return index;
  }
}

function bodyEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && BODY_CHAR.test(text.charAt(end))) end += 1;
  return end;
}

/** Only lines of base64 belong to the key; the sentence before it does not. */
function bodyStartBefore({ text, end, least }: { text: string; end: number; least: number }): number {
  let start = end;
  while (start > least && /[A-Za-z0-9+/=\n\\]/.test(text.charAt(start - 1))) start -= 1;
  return start;
}
