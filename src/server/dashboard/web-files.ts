import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { packageRoot } from "../../base/package-root.js";

export interface WebFile {
  readonly body: Buffer;
  readonly type: string;
  /** As it lies on the disk: `br` or `gzip`. */
  readonly encoding?: string | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml; charset=utf-8",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

const ENCODINGS = [
  { name: "br", ending: ".br" },
  { name: "gzip", ending: ".gz" },
] as const;

/** The files of the page, as `npm run build` has left them. */
export class WebFiles {
  readonly #folder: string | undefined;

  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** Where they lie in a checkout and in the package. */
  static ofPackage(): WebFiles {
    const root = packageRoot();
    return new WebFiles(root === undefined ? undefined : join(root, "dist", "web"));
  }

  /** The page itself; undefined where it has not been built. */
  index(): Promise<WebFile | undefined> {
    return this.#read("index.html");
  }

  /** A part of it, in the smallest form the client takes. */
  async asset(name: string, accepts: string): Promise<WebFile | undefined> {
    // A name, never a path.
    if (!/^[\w-][\w.-]*$/.test(name)) return undefined;
    const path = join("assets", name);
    for (const { name: encoding, ending } of ENCODINGS) {
      if (!takes(accepts, encoding)) continue;
      const file = await this.#read(path, ending);
      if (file !== undefined) return { ...file, encoding };
    }
    return this.#read(path);
  }

  async #read(path: string, ending = ""): Promise<WebFile | undefined> {
    const type = TYPES[extname(path)];
    if (this.#folder === undefined || type === undefined) return undefined;
    try {
      return { body: await readFile(join(this.#folder, `${path}${ending}`)), type };
    } catch {
      return undefined;
    }
  }
}

function takes(accepts: string, encoding: string): boolean {
  return accepts.split(",").some((part) => {
    const [name = "", ...weights] = part.split(";").map((text) => text.trim().toLowerCase());
    return name === encoding && !weights.some((weight) => /^q=0(?:\.0*)?$/.test(weight));
  });
}
