import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { defineEnvironment } from "../descriptor.js";
import { findProgram } from "../find-program.js";
import { CONTAINER_SETTINGS, cacheVariables, containerSettings, passedOn } from "../settings.js";

export default defineEnvironment({
  kind: "singularity",
  about: "a container of Apptainer or Singularity",
  settings: {
    // biome-ignore format: one key per line keeps the table readable as a table.
    own: [
      { path: "terminal.singularity_image", type: { kind: "string" }, default: "", project: "never", policy: true, envAliases: ["TERMINAL_SINGULARITY_IMAGE"], about: "SIF file, folder or address of the image for apptainer or singularity" },
    ],
    shared: [...CONTAINER_SETTINGS, "terminal.lifetime_seconds", "terminal.env_passthrough"],
  },
  check({ env, values }) {
    if (values.terminal.singularity_image === "") {
      return { reason: "no image is set", fix: "hermes config set terminal.singularity_image FILE.sif" };
    }
    if (findProgram("apptainer", env) ?? findProgram("singularity", env)) return undefined;
    return { reason: "neither apptainer nor singularity is on PATH", fix: "install apptainer" };
  },
  async open({ config, task, onProgress }) {
    const [{ createSingularityEnvironment }, { Starter }] = await Promise.all([
      import("./singularity.js"),
      import("../local/starter.js"),
    ]);
    const runtimeMark = randomUUID();
    return createSingularityEnvironment({
      ...(await containerSettings(config)),
      image: config.values.terminal.singularity_image,
      task,
      home: config.paths.home,
      env: config.env,
      passthrough: { ...passedOn(config), ...cacheVariables(config) },
      cacheDir: join(config.paths.cache, "images"),
      runtimeMark,
      starter: new Starter({ mark: runtimeMark, path: config.env.PATH, launcher: true }),
      onProgress: (message) => onProgress?.(message),
    });
  },
});
