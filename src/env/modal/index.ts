import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { defineEnvironment } from "../descriptor.js";
import { CLOUD_SETTINGS, cloudSettings } from "../settings.js";

export default defineEnvironment({
  kind: "modal",
  about: "a sandbox at modal.com",
  settings: {
    // biome-ignore format: one key per line keeps the table readable as a table.
    own: [
      { path: "terminal.modal_image", type: { kind: "string" }, default: "nikolaik/python-nodejs:python3.11-nodejs20", project: "never", policy: true, envAliases: ["TERMINAL_MODAL_IMAGE"], about: "Image of modal sandboxes" },
    ],
    shared: CLOUD_SETTINGS,
  },
  check({ env }) {
    try {
      createRequire(import.meta.url).resolve("modal");
    } catch {
      return { reason: "the npm package modal is not installed", fix: "npm install modal" };
    }
    const written = existsSync(join(env.HOME ?? "/", ".modal.toml"));
    if (written || (env.MODAL_TOKEN_ID && env.MODAL_TOKEN_SECRET)) return undefined;
    return { reason: "there is no token", fix: "set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET" };
  },
  async open({ config, task }) {
    const { createModalEnvironment } = await import("./modal.js");
    return createModalEnvironment({
      ...cloudSettings(config),
      task,
      stateDir: config.paths.home,
      image: config.values.terminal.modal_image,
      tokenId: config.env.MODAL_TOKEN_ID,
      tokenSecret: config.env.MODAL_TOKEN_SECRET,
      serverUrl: config.env.MODAL_SERVER_URL,
    });
  },
});
