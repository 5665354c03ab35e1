// The text of all pages of a PDF: by the library alone, and with the tool through a session.
import { readFile } from "node:fs/promises";
import { oneByOne } from "../operations.mjs";
import { openSession } from "./session.mjs";

/** `dist`: the build to measure; the library alone without it. */
export async function open({ file, pages, dist }) {
  const lastLine = `Page ${pages}, line 45: the quick`;
  const check = (texts) => {
    if (texts.length === pages && texts[pages - 1].includes(lastLine)) return;
    throw new Error(`not the text of ${pages} pages: ${texts[pages - 1]?.slice(0, 200)}`);
  };
  if (dist === undefined) {
    const { extractText, getDocumentProxy } = await import("unpdf");
    const text = async () => {
      const document = await getDocumentProxy(Uint8Array.from(await readFile(file)));
      const { text: texts } = await extractText(document, { mergePages: false });
      await document.destroy();
      check(texts);
    };
    return { operations: { text: oneByOne(text) } };
  }
  const { call, close } = await openSession({ dist });
  return {
    operations: {
      text: oneByOne(async () => {
        // So much text is put on disk for the model to look into; that is part of the work.
        const { spilled_to } = await call("pdf_extract", { path: file });
        const whole = await readFile(spilled_to, "utf8");
        if (!whole.includes(lastLine)) throw new Error(`not all pages are there: ${whole.slice(-200)}`);
      }),
    },
    close,
  };
}
