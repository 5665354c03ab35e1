// `echo hi` in a running container: through the terminal tool, and with the engine's bare API.
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { IMAGE, startDockerd } from "../servers/dockerd.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

export async function measureDockerExec({ dist, effort }) {
  const engine = await startDockerd();
  if ("missing" in engine) return { microseconds: {}, ratios: {}, leftOut: { docker: engine.missing } };
  try {
    return await withSubjects(async ({ start }) => {
      const settings = [
        "env: docker",
        "docker_engine: docker",
        `docker_image: ${IMAGE}`,
        "container_persistent: false",
        "container_network: false",
      ];
      const docker = { socket: engine.socket, container: engine.container };
      const env = { DOCKER_HOST: `unix://${engine.socket}` };
      const samples = await takeTurns(
        {
          "bare-docker": { subject: await start("bare-terminal", { docker }), operation: "docker" },
          "terminal-docker": {
            subject: await start("terminal", { dist, environment: "docker", settings, env }),
            operation: "echo",
          },
        },
        effort,
      );
      return {
        microseconds: inMicroseconds(samples),
        ratios: ratios(samples, "terminal-docker", ["bare-docker"]),
      };
    });
  } finally {
    await engine.stop();
  }
}
