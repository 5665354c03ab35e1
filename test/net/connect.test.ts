import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { guardedConnect } from "../../src/net/connect.js";
import { guardedFetch } from "../../src/net/fetch.js";
import { onTestEnd } from "../support/runtime.js";

const CLOSED = { allowPrivate: false };

async function listening(): Promise<number> {
  const server = createServer((socket) => socket.end("hello"));
  onTestEnd(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

describe("a connection that is no web request", () => {
  it("is refused where a web request would be", async () => {
    const port = await listening();
    for (const host of ["127.0.0.1", "localhost", "169.254.169.254", "::1"])
      await expect(guardedConnect({ host, port, rules: CLOSED })).rejects.toMatchObject({ code: "blocked" });
    const resolve = async () => ["10.0.0.1"];
    await expect(guardedConnect({ host: "db.example", port, rules: CLOSED, resolve })).rejects.toMatchObject({
      code: "blocked",
      message: expect.stringContaining("10.0.0.1"),
    });
  });

  it("goes where the operator has opened the way, by a list or by having named the address", async () => {
    const port = await listening();
    for (const more of [
      { rules: { allowPrivate: false, privateHosts: ["127.0.0.1"] } },
      { rules: CLOSED, configured: true },
    ]) {
      const socket = await guardedConnect({ host: "127.0.0.1", port, ...more });
      const [data] = (await once(socket, "data")) as [Buffer];
      expect(data.toString()).toBe("hello");
      socket.destroy();
    }
  });

  it("stays closed to cloud metadata, whoever named it", async () => {
    await expect(
      guardedConnect({ host: "169.254.169.254", port: 80, rules: CLOSED, configured: true }),
    ).rejects.toMatchObject({ code: "blocked" });
  });

  it("says why nobody answered, and ends with the call", async () => {
    const port = await listening();
    const refused = guardedConnect({ host: "127.0.0.1", port: 1, rules: CLOSED, configured: true });
    await expect(refused).rejects.toMatchObject({
      message: expect.stringContaining("nothing listens there"),
    });
    const signal = AbortSignal.abort();
    const cancelled = guardedConnect({ host: "127.0.0.1", port, rules: CLOSED, configured: true, signal });
    await expect(cancelled).rejects.toMatchObject({ code: "cancelled" });
  });
});

describe("an address that the operator configured", () => {
  it("is fetched although it is private; where it redirects to is judged", async () => {
    const other = await listening();
    const server = createHttp((request, response) => {
      if (request.url === "/away") response.writeHead(302, { location: `http://127.0.0.1:${other}/` });
      response.end("fine");
    });
    onTestEnd(() => void server.close());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const answer = await guardedFetch({ url: base, rules: CLOSED, configured: true });
    expect(await answer.text()).toBe("fine");
    const away = guardedFetch({ url: `${base}/away`, rules: CLOSED, configured: true });
    await expect(away).rejects.toMatchObject({ code: "blocked" });
    await expect(guardedFetch({ url: base, rules: CLOSED })).rejects.toMatchObject({ code: "blocked" });
  });
});
