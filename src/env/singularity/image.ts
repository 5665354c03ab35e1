import { randomBytes } from "node:crypto";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { sha256 } from "../../base/hash.js";
import { ToolError } from "../../tool/errors.js";
import type { SingularityOptions } from "./options.js";
import type { ContainerProgram } from "./program.js";

const BUILD_MS = 600_000;
/** An instance begins with this file; images that the program built have it, plain folders do not. */
const START_FILE = ".singularity.d/actions/start";

/**
 * The image to start: a SIF file or a prepared folder as it is; anything else is built once and kept. A kept
 * image belongs to one state of its folder: when the folder changes, it is built again.
 */
export async function imageToStart(program: ContainerProgram, options: SingularityOptions): Promise<string> {
  const { image, cacheDir } = options;
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//.test(image);
  const found = isAddress ? undefined : await stat(image).catch(() => undefined);
  if (!isAddress && found === undefined) throw noImage(image);
  if (!isAddress && !isAbsolute(image)) throw relativeImage(image);
  if (found?.isFile() === true) return image;
  if (found !== undefined && (await stat(join(image, START_FILE)).catch(() => undefined)) !== undefined) {
    return image;
  }
  const state = found === undefined ? image : `${image}\0${found.mtimeMs}`;
  const kept = join(cacheDir, `${sha256(state).slice(0, 24)}.sif`);
  if ((await stat(kept).catch(() => undefined)) !== undefined) return kept;
  options.onProgress?.(`building an image from ${image}; this is done once`);
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const unfinished = `${kept}.${randomBytes(6).toString("hex")}`;
  try {
    const built = await program.run(["build", "--force", unfinished, image], BUILD_MS);
    if (built.code !== 0) throw notBuilt(image, built.errors);
    await rename(unfinished, kept);
  } finally {
    await rm(unfinished, { force: true });
  }
  return kept;
}

function noImage(image: string): ToolError {
  return new ToolError(`There is no container image at ${JSON.stringify(image)}.`, {
    code: "unavailable",
    hint: "Set terminal.singularity_image to a SIF file, a folder, or an address such as docker://debian:12.",
  });
}

function relativeImage(image: string): ToolError {
  return new ToolError(`The container image ${JSON.stringify(image)} is not given by its full path.`, {
    code: "unavailable",
    hint: "Set terminal.singularity_image to an absolute path.",
  });
}

function notBuilt(image: string, errors: string): ToolError {
  const why = errors.split("\n").at(-1) ?? "";
  return new ToolError(`No image could be built from ${image}: ${why || "no reason was given"}.`, {
    code: "unavailable",
    hint: "Try it by hand: apptainer build image.sif SOURCE.",
  });
}
