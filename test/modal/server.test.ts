// @needs bwrap
import { ModalClient, NotFoundError } from "modal";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type ModalServer, startModalServer } from "../support/modal-server/server.js";

/** The local server against the official client, without any code of ours in between. */
describe("the official client on the local server", () => {
  let server: ModalServer;
  let client: ModalClient;

  beforeAll(async () => {
    server = await startModalServer();
    client = connect(server);
  });
  afterAll(() => server.stop());

  test("a program gets its input, and its two streams, exit code and terminal come back", async () => {
    const app = await client.apps.fromName("test", { createIfMissing: true });
    const sandbox = await client.sandboxes.create(app, client.images.fromRegistry("debian:12"), {
      command: ["sleep", "infinity"],
      tags: { hermes: "1" },
    });
    const program = await sandbox.exec(["sh", "-c", 'cat; printf "\\377\\000" >&2; exit 3'], {
      mode: "binary",
    });
    await program.stdin.writeBytes(new TextEncoder().encode("in"));
    await program.stdin.close();
    expect(Buffer.from(await program.stdout.readBytes()).toString()).toBe("in");
    expect([...(await program.stderr.readBytes())]).toEqual([255, 0]);
    expect(await program.wait()).toBe(3);

    const terminal = await sandbox.exec(["sh", "-c", "tty; stty size; kill -9 $$"], { pty: true });
    expect(await terminal.stdout.readText()).toMatch(/^\/dev\/pts\/\d+\r\n24 80\r\n$/);
    expect(await terminal.wait()).toBe(137);

    const listed: string[] = [];
    for await (const { sandboxId } of client.sandboxes.list({ tags: { hermes: "1" } }))
      listed.push(sandboxId);
    expect(listed).toEqual([sandbox.sandboxId]);
    expect(await sandbox.poll()).toBeNull();
    expect(await sandbox.terminate({ wait: true })).toBe(137);
    expect(server.running()).toEqual([]);
  });

  test("a snapshot holds the files, and an id that is gone is not found", async () => {
    const app = await client.apps.fromName("test", { createIfMissing: true });
    const first = await client.sandboxes.create(app, client.images.fromRegistry("debian:12"));
    await (await first.exec(["sh", "-c", "echo kept > /root/file"])).wait();
    const image = await first.snapshotFilesystem();
    await first.terminate();
    const second = await client.sandboxes.create(app, await client.images.fromId(image.imageId));
    expect(await (await second.exec(["cat", "/root/file"])).stdout.readText()).toBe("kept\n");
    await second.terminate();
    await client.images.delete(image.imageId);
    await expect(client.images.fromId(image.imageId)).rejects.toBeInstanceOf(NotFoundError);
  });

  test("output goes on where it was after the connection was cut for a moment", async () => {
    const app = await client.apps.fromName("test", { createIfMissing: true });
    const sandbox = await client.sandboxes.create(app, client.images.fromRegistry("debian:12"));
    const program = await sandbox.exec(["sh", "-c", "echo before; read -r word; echo $word"]);
    let output = "";
    for await (const text of program.stdout) {
      output += text;
      if (output !== "before\n") continue;
      server.gate.cut({ forMs: 200 });
      // The client gives up on a question sooner than its connection is made anew.
      await vi.waitFor(() => sandbox.poll(), { timeout: 20_000, interval: 100 });
      await program.stdin.writeText("after\n");
    }
    expect(output).toBe("before\nafter\n");
    expect(await program.wait()).toBe(0);
    await sandbox.terminate();
  });

  test("a wrong token is refused", async () => {
    const stranger = connect({ ...server, tokenSecret: "as-other" });
    await expect(stranger.apps.fromName("test", { createIfMissing: true })).rejects.toThrow(
      /UNAUTHENTICATED/,
    );
  });
});

function connect(server: Pick<ModalServer, "url" | "tokenId" | "tokenSecret">): ModalClient {
  process.env.MODAL_SERVER_URL = server.url;
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  return new ModalClient({ tokenId: server.tokenId, tokenSecret: server.tokenSecret, logger: silent });
}
