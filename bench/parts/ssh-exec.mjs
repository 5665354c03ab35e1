// `echo hi` on a warm ssh connection: through the terminal tool, and with a bare multiplexed ssh.
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { startSshd } from "../servers/sshd.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

export async function measureSshExec({ dist, effort }) {
  const server = await startSshd();
  if ("missing" in server) return { microseconds: {}, ratios: {}, leftOut: { ssh: server.missing } };
  try {
    return await withSubjects(async ({ start }) => {
      const settings = [
        "env: ssh",
        `ssh_host: ${server.host}`,
        `ssh_user: ${server.user}`,
        `ssh_port: ${server.port}`,
        `ssh_key: ${server.keyFile}`,
      ];
      const env = { PATH: `${server.binFolder}:${process.env.PATH}` };
      const samples = await takeTurns(
        {
          "bare-ssh": {
            subject: await start("bare-terminal", { ssh: server.multiplexed }),
            operation: "ssh",
          },
          "terminal-ssh": {
            subject: await start("terminal", { dist, environment: "ssh", settings, env }),
            operation: "echo",
          },
        },
        effort,
      );
      return { microseconds: inMicroseconds(samples), ratios: ratios(samples, "terminal-ssh", ["bare-ssh"]) };
    });
  } finally {
    await server.stop();
  }
}
