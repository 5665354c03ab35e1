// @needs bwrap
import { Daytona } from "@daytona/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DaytonaServer, startDaytonaServer } from "../support/daytona-server/server.js";

/** The local server against the official client, without any code of ours in between. */
describe("the official client on the local server", () => {
  let server: DaytonaServer;
  let client: Daytona;

  beforeAll(async () => {
    server = await startDaytonaServer();
    client = connect(server.url, server.apiKey);
  });
  afterAll(() => server.stop());

  test("commands run, files go up and down, a terminal answers, stop and start keep the files", async () => {
    const sandbox = await client.create({ name: "official", image: "debian:12", autoStopInterval: 0 });
    expect(await sandbox.process.executeCommand("echo out; echo err >&2; exit 3")).toMatchObject({
      exitCode: 3,
      result: "out\nerr\n",
    });
    await sandbox.fs.uploadFile(Buffer.from("kept"), "/root/file");
    expect((await sandbox.process.executeCommand("cat file", "/root")).result).toBe("kept");

    let shown = "";
    const terminal = await sandbox.process.createPty({
      id: "terminal",
      cols: 70,
      rows: 20,
      onData: (data) => {
        shown += Buffer.from(data).toString();
      },
    });
    await terminal.resize(66, 22);
    await terminal.sendInput("stty size; exit 4\n");
    expect((await terminal.wait()).exitCode).toBe(4);
    expect(shown).toContain("22 66");

    await sandbox.stop();
    expect(server.sandboxes()).toMatchObject([{ name: "official", state: "stopped" }]);
    const found = await client.get("official");
    await found.start();
    expect((await found.process.executeCommand("cat /root/file")).result).toBe("kept");
    const names: string[] = [];
    for await (const { name } of client.list()) names.push(name);
    expect(names).toEqual(["official"]);

    await found.createSnapshot("official-snapshot");
    const copy = await client.create({ snapshot: "official-snapshot" });
    expect((await copy.process.executeCommand("cat /root/file")).result).toBe("kept");
    await copy.delete();
    await found.delete();
    expect(server.sandboxes()).toEqual([]);
  });

  test("a wrong key is refused", async () => {
    await expect(connect(server.url, "dtn_other").get("official")).rejects.toThrow(/Unauthorized/);
  });
});

/** Without the channel for events, which only tells earlier what the client also asks for. */
function connect(apiUrl: string, apiKey: string): Daytona {
  return new Daytona({ apiUrl, apiKey, target: "local", useDeprecatedPolling: true });
}
