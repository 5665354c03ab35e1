import { dirname, join } from "node:path/posix";
import type { FileStat } from "../../../env/environment.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";

type Listing = ReadonlyMap<string, FileStat["type"]>;

/** What lies already where an archive is about to be unpacked; each folder is looked at once. */
export class TargetTree {
  readonly #root: string;
  readonly #ctx: CallContext;
  readonly #listings = new Map<string, Promise<Listing | undefined>>();

  /** `root` is a real path. */
  constructor(root: string, ctx: CallContext) {
    this.#root = root;
    this.#ctx = ctx;
  }

  /** What is there under this name; a link or a file in the place of a folder on the way is an error. */
  async find(name: string): Promise<FileStat["type"] | undefined> {
    const folder = dirname(name);
    if (folder !== ".") {
      const above = await this.find(folder);
      if (above === undefined) return undefined;
      if (above !== "directory") throw inTheWay(join(this.#root, folder), above);
    }
    const listing = await this.#list(folder === "." ? "" : folder);
    return listing?.get(name.slice(name.lastIndexOf("/") + 1));
  }

  #list(folder: string): Promise<Listing | undefined> {
    let listing = this.#listings.get(folder);
    if (listing === undefined) {
      listing = this.#read(join(this.#root, folder));
      this.#listings.set(folder, listing);
    }
    return listing;
  }

  async #read(path: string): Promise<Listing | undefined> {
    const { files } = this.#ctx.environment;
    const stat = await files.stat(path);
    if (stat === undefined) return undefined;
    if (stat.type !== "directory") throw inTheWay(path, stat.type);
    return new Map((await files.list(path)).map(({ name, type }) => [name, type]));
  }
}

export function inTheWay(path: string, type: FileStat["type"]): ToolError {
  const what = { file: "a file", directory: "a folder", symlink: "a link", other: "a device" }[type];
  return new ToolError(`Nothing was unpacked: ${path} is ${what} and in the way.`, {
    code: "denied",
    hint: "Unpack to another folder (output), or ask the person to move it.",
    details: { path },
  });
}
