import { defineEnvironment } from "../descriptor.js";
import { CLOUD_SETTINGS, cloudSettings } from "../settings.js";

export default defineEnvironment({
  kind: "daytona",
  about: "a sandbox at daytona.io or your own Daytona",
  settings: {
    // biome-ignore format: one key per line keeps the table readable as a table.
    own: [
      { path: "terminal.daytona_image", type: { kind: "string" }, default: "nikolaik/python-nodejs:python3.11-nodejs20", project: "never", policy: true, envAliases: ["TERMINAL_DAYTONA_IMAGE"], about: "Image of daytona sandboxes" },
    ],
    shared: [...CLOUD_SETTINGS, "terminal.container_disk"],
  },
  check: ({ env }) =>
    env.DAYTONA_API_KEY ? undefined : { reason: "there is no key", fix: "set DAYTONA_API_KEY" },
  async open({ config, task }) {
    const { createDaytonaEnvironment } = await import("./daytona.js");
    return createDaytonaEnvironment({
      ...cloudSettings(config),
      task,
      image: config.values.terminal.daytona_image,
      diskMb: config.values.terminal.container_disk,
      apiKey: config.env.DAYTONA_API_KEY,
      apiUrl: config.env.DAYTONA_API_URL,
      target: config.env.DAYTONA_TARGET,
    });
  },
});
