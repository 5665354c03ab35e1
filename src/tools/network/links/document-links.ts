import { dirname, extname, join } from "node:path/posix";
import type { CallContext } from "../../../tool/tool.js";
import { linksOfMarkdown, webAddress } from "./find-links.js";

const MAX_FILES = 5_000;
const MAX_FILE_BYTES = 5 * 1024 * 1024;
const LEFT_OUT = new Set(["node_modules", ".git", "dist", "build", "target"]);

export interface DocumentLinks {
  /** Web addresses with the file that has them. */
  readonly web: readonly { readonly url: string; readonly parent: string }[];
  /** Links to files that are not there. */
  readonly broken: readonly { readonly url: string; readonly parent: string; readonly reason: string }[];
  /** Links to files that were looked at. */
  readonly checked: number;
  readonly files: number;
}

/** Links of a Markdown file, or of all below a folder. Links to other files are looked at here and now. */
export async function documentLinks(path: string, ctx: CallContext): Promise<DocumentLinks> {
  const { files } = ctx.environment;
  const web: { url: string; parent: string }[] = [];
  const broken: { url: string; parent: string; reason: string }[] = [];
  let checked = 0;
  const documents = await markdownBelow(path, ctx);
  for (const document of documents) {
    ctx.signal.throwIfAborted();
    const bytes = await files.read(document, { end: MAX_FILE_BYTES });
    for (const link of linksOfMarkdown(Buffer.from(bytes).toString("utf8"))) {
      const url = webAddress(link, "about:blank");
      if (url !== undefined) web.push({ url, parent: document });
      if (url !== undefined || /^(?:[a-z][a-z0-9+.-]*:|#|\/\/)/i.test(link)) continue;
      checked += 1;
      const target = targetOf(link, document, path);
      if (target === undefined || (await files.stat(target)) === undefined)
        broken.push({ url: link, parent: document, reason: "there is no such file" });
    }
  }
  return { web, broken, checked, files: documents.length };
}

/** A link from the root means the root of the documents. */
function targetOf(link: string, document: string, root: string): string | undefined {
  try {
    const name = decodeURIComponent(link.replace(/[?#].*$/, ""));
    if (name === "") return document;
    return name.startsWith("/") ? join(root, name) : join(dirname(document), name);
  } catch {
    return undefined;
  }
}

async function markdownBelow(path: string, ctx: CallContext): Promise<readonly string[]> {
  const { files } = ctx.environment;
  if ((await files.stat(path))?.type === "file") return [path];
  const found: string[] = [];
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined && found.length < MAX_FILES; folder = folders.pop()) {
    ctx.signal.throwIfAborted();
    for (const { name, type } of await files.list(folder)) {
      if (type === "directory" && !LEFT_OUT.has(name)) folders.push(join(folder, name));
      if (type === "file" && /^\.(?:md|markdown|mdx)$/i.test(extname(name))) found.push(join(folder, name));
    }
  }
  return found.toSorted();
}
