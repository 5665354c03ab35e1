// @needs radicale
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { makeCalendar } from "tsdav";
import { describe, expect } from "vitest";
import { type CaldavServer, PASSWORD } from "../../support/caldav-server.js";
import { onTestEnd, tempDir } from "../../support/runtime.js";
import { caldavBehaviour } from "./caldav-behaviour.js";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A CalDAV server with the account ada and her calendars. */
async function startRadicale(names: readonly string[] = ["work"]): Promise<CaldavServer> {
  const folder = tempDir();
  const port = await freePort();
  writeFileSync(join(folder, "users"), `ada:${PASSWORD}\n`);
  writeFileSync(
    join(folder, "config"),
    `[server]\nhosts = 127.0.0.1:${port}\n[auth]\ntype = htpasswd\nhtpasswd_filename = ${folder}/users\nhtpasswd_encryption = plain\ndelay = 0\n[storage]\nfilesystem_folder = ${folder}/data\n`,
  );
  const server = spawn("radicale", ["--config", join(folder, "config")], { stdio: "ignore" });
  onTestEnd(async () => {
    server.kill();
    if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
  });
  const base = `http://127.0.0.1:${port}`;
  await expect
    .poll(
      () =>
        fetch(base).then(
          () => true,
          () => false,
        ),
      { timeout: 15_000 },
    )
    .toBe(true);
  const authorization = `Basic ${Buffer.from(`ada:${PASSWORD}`).toString("base64")}`;
  for (const name of names) {
    const url = `${base}/ada/${name}/`;
    await makeCalendar({ url, props: { "d:displayname": name }, headers: { authorization } });
  }
  return { base, url: `${base}/ada/${names[0]}/`, authorization };
}

describe("calendar_manage with Radicale", { timeout: 30_000 }, () => {
  caldavBehaviour(startRadicale);
});
