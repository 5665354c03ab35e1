import { defineEnvironment } from "../descriptor.js";
import { CONTAINER_SETTINGS, cacheVariables, containerSettings } from "../settings.js";

export default defineEnvironment({
  kind: "docker",
  about: "a container of Docker or Podman",
  settings: {
    // biome-ignore format: one key per line keeps the table readable as a table.
    own: [
      { path: "terminal.docker_image", type: { kind: "string" }, default: "nikolaik/python-nodejs:python3.11-nodejs20", project: "never", policy: true, envAliases: ["TERMINAL_DOCKER_IMAGE"], about: "Image of docker containers" },
      { path: "terminal.docker_engine", type: { kind: "enum", values: ["auto", "docker", "podman"] }, default: "auto", project: "never", about: "Which container engine is used" },
      { path: "terminal.docker_runtime", type: { kind: "string" }, default: "", project: "never", policy: true, about: "OCI runtime of containers, such as `runsc` for gVisor; empty: the engine's own" },
      { path: "terminal.docker_run_as_host_user", type: { kind: "boolean" }, default: false, project: "never", about: "Run as your own user number inside containers, so that files in mounted folders stay yours" },
    ],
    shared: [
      ...CONTAINER_SETTINGS,
      "terminal.container_disk",
      "terminal.lifetime_seconds",
      "terminal.env_passthrough",
    ],
  },
  async check({ env, values }) {
    const { engineInSight } = await import("./find-engine.js");
    return (await engineInSight({ engine: values.terminal.docker_engine, env }))
      ? undefined
      : { reason: "no container engine was found", fix: "start Docker, or install podman" };
  },
  async open({ config, task, onProgress }) {
    const { terminal, permissions } = config.values;
    const { createDockerEnvironment } = await import("./docker.js");
    return createDockerEnvironment({
      ...(await containerSettings(config)),
      engine: terminal.docker_engine,
      env: { ...config.env, ...cacheVariables(config) },
      passthrough: [...terminal.env_passthrough, ...Object.keys(cacheVariables(config))],
      image: terminal.docker_image,
      task,
      profile: permissions.profile,
      home: config.paths.home,
      diskMb: terminal.container_disk,
      runtime: terminal.docker_runtime || undefined,
      runAsHostUser: terminal.docker_run_as_host_user,
      lifetimeSeconds: terminal.lifetime_seconds,
      onProgress: (message) => onProgress?.(message),
    });
  },
});
