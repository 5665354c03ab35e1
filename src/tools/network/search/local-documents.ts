import { extname, join, relative } from "node:path/posix";
import MiniSearch from "minisearch";
import type { CallContext } from "../../../tool/tool.js";
import type { SearchAnswer, SearchRequest } from "./ask-engine.js";

const MAX_FILES = 5_000;
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_DEPTH = 8;
const SNIPPET_CHARS = 300;
const TEXTS = new Set(
  ".md .markdown .mdx .txt .rst .adoc .org .html .htm .csv .json .yaml .yml .tex".split(" "),
);
const LEFT_OUT = new Set(["node_modules", "dist", "build", "target", "__pycache__"]);

interface Document {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** The documents of a folder, by their words. Read anew when one of them has changed. */
export class LocalDocuments {
  #state = "";
  #index: MiniSearch<Document> | undefined;
  #texts = new Map<string, Document>();

  async search(folder: string, request: SearchRequest, ctx: CallContext): Promise<SearchAnswer> {
    const files = await filesBelow(folder, ctx);
    const state = `${folder}\n${files.map(({ path, size, mtimeMs }) => `${path} ${size} ${mtimeMs}`).join("\n")}`;
    if (this.#index === undefined || state !== this.#state) await this.#read(folder, files, ctx);
    this.#state = state;
    const hits = this.#index?.search(request.query, { prefix: true, fuzzy: 0.15, boost: { title: 2 } }) ?? [];
    return {
      total: hits.length,
      results: hits.slice(0, request.limit).map(({ id, score, terms }) => {
        const document = this.#texts.get(String(id));
        return {
          title: document?.title ?? String(id),
          url: `file://${join(folder, String(id))}`,
          snippet: snippetOf(document?.text ?? "", terms),
          score: Math.round(score * 100) / 100,
        };
      }),
    };
  }

  async #read(folder: string, files: readonly FoundFile[], ctx: CallContext): Promise<void> {
    const index = new MiniSearch<Document>({ fields: ["title", "text"] });
    const texts = new Map<string, Document>();
    for (const [at, { path }] of files.entries()) {
      ctx.signal.throwIfAborted();
      if (at % 200 === 0 && files.length > 200)
        ctx.progress({ message: `reading documents in ${folder}`, fraction: at / files.length });
      const bytes = await ctx.environment.files.read(path).catch(() => undefined);
      if (bytes === undefined || bytes.subarray(0, 1_000).includes(0)) continue;
      const whole = Buffer.from(bytes).toString("utf8");
      const text = /\.html?$/i.test(path) ? whole.replace(/<[^>]*>/g, " ") : whole;
      const id = relative(folder, path);
      const document = { id, title: titleOf(whole, id), text };
      texts.set(id, document);
      index.add(document);
    }
    this.#index = index;
    this.#texts = texts;
  }

  close(): void {
    this.#index = undefined;
    this.#texts.clear();
  }
}

interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

async function filesBelow(folder: string, ctx: CallContext): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];
  const waiting = [{ path: folder, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined && found.length < MAX_FILES; next = waiting.pop()) {
    ctx.signal.throwIfAborted();
    const { path: here, depth } = next;
    const entries = await ctx.environment.files.list(here, { details: true }).catch(() => []);
    for (const { name, type, stat: known } of entries) {
      if (name.startsWith(".") || LEFT_OUT.has(name)) continue;
      const path = join(here, name);
      if (type === "directory" && depth < MAX_DEPTH) waiting.push({ path, depth: depth + 1 });
      if (type !== "file" || !TEXTS.has(extname(name).toLowerCase())) continue;
      const stat = known ?? (await ctx.environment.files.stat(path));
      if (stat !== undefined && stat.size <= MAX_FILE_BYTES && found.length < MAX_FILES)
        found.push({ path, size: stat.size, mtimeMs: stat.mtimeMs });
    }
  }
  return found.toSorted((left, right) => (left.path < right.path ? -1 : 1));
}

function titleOf(text: string, path: string): string {
  const heading =
    /<title>([^<]+)<\/title>/i.exec(text)?.[1] ?? /^\s*(?:#+|=)\s+(.+)$/m.exec(text.slice(0, 4_000))?.[1];
  return heading?.trim() ?? path;
}

/** The text around the first word that was found. */
function snippetOf(text: string, terms: readonly string[]): string {
  const low = text.toLowerCase();
  const places = terms.map((term) => low.indexOf(term)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - SNIPPET_CHARS / 3);
  const from = places.length === 0 ? 0 : start;
  return text
    .slice(from, from + SNIPPET_CHARS)
    .replace(/\s+/g, " ")
    .trim();
}
