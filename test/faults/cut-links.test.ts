// @needs sshd ssh ip root
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createSshEnvironment } from "../../src/env/ssh/ssh.js";
import { ToolError } from "../../src/tool/errors.js";
import { processesWith } from "../ssh/support.js";
import { networkLink } from "../support/network-link.js";
import { startSshServer } from "../support/ssh-server.js";
import { quantile, report, seconds } from "./figures.js";
import { FULL } from "./support.js";

const CUTS = FULL ? 50 : 2;
/** Networks side by side: most of the time is spent waiting. */
const LINES = FULL ? 5 : 2;
const never = new AbortController().signal;

test(`an ssh link that is cut in the middle of a command, ${CUTS} times`, async () => {
  const noticed: number[] = [];
  const back: number[] = [];
  const wrong: string[] = [];
  let remaining = CUTS;
  const line = async (_: unknown, number: number): Promise<void> => {
    const link = networkLink();
    const server = await startSshServer({ network: link });
    onTestFinished(() => server.stop());
    const environment = await createSshEnvironment({
      host: server.host,
      port: server.port,
      user: server.user,
      keyFile: server.keyFile,
      knownHostsFile: server.knownHostsFile,
      configFile: server.configFile,
      controlDir: join(server.folder, "control"),
    });
    onTestFinished(() => environment.close());
    for (let round = 0; remaining > 0; round += 1) {
      remaining -= 1;
      const how = (round + number) % 2 === 0 ? "unplugged" : "silent";
      const marker = `31${number}${round}.${process.pid}`;
      const sleeper = `sleep ${marker}`;
      let cutAt = 0;
      const error: unknown = await environment
        .exec({
          command: `echo begun; ${sleeper}`,
          cwd: "/",
          timeoutMs: 60_000,
          signal: never,
          onChunk: () => {
            cutAt ||= performance.now();
            link.cut(how);
          },
        })
        .catch((problem: unknown) => problem);
      noticed.push(performance.now() - cutAt);
      if (!ToolError.isInstance(error) || error.code !== "unavailable")
        wrong.push(`${how}: ${JSON.stringify(error)}`);
      link.mend();
      const mendedAt = performance.now();
      const again = await environment
        .exec({ command: "echo again", cwd: "/", timeoutMs: 60_000, signal: never })
        .catch((problem: unknown) => ({ output: String(problem) }));
      back.push(performance.now() - mendedAt);
      if (again.output !== "again\n") wrong.push(`${how}, the next call: ${again.output}`);
      for (let left = 100; left > 0 && processesWith(sleeper).length > 0; left -= 1) await pause(50);
      if (processesWith(sleeper).length > 0) wrong.push(`${how}: ${sleeper} is still running`);
    }
  };
  await Promise.all(Array.from({ length: LINES }, line));
  if (wrong.length > 0) console.error(wrong.join("\n"));
  expect(noticed).toHaveLength(CUTS);
  report({
    id: "M2",
    what: "ssh link cut in the middle of a command: unplugged, or silent",
    trials: CUTS,
    seen: `error after at most ${seconds(Math.max(...noticed))} (median ${seconds(quantile(noticed, 0.5))}), next call answered ${seconds(Math.max(...back))} after the link was back at the latest; ${wrong.length} other errors, failed next calls or remote processes left`,
    goal: "error ≤ 15 s, remote process gone or reported, next call works",
    pass: wrong.length === 0 && Math.max(...noticed) <= 15_000,
  });
}, 900_000);
