import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { start, tempFolder } from "../cli/hermes.js";

const MEGABYTE = 1024 * 1024;
const SLOW_CLIENTS = 50;

it("prototype keys, depth, 200 MiB, 100,000 headers and slow bodies: refused early, in little memory", async () => {
  const home = tempFolder();
  const server = start(["serve", "--port", "0"], { home });
  const { pid } = server;
  if (server.stdout === null || pid === undefined) throw new Error("it did not start");
  const port = await new Promise<number>((resolve) => {
    createInterface({ input: server.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const [, found] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line) ?? [];
      if (found !== undefined) resolve(Number(found));
    });
  });
  const token = readFileSync(join(home, "server.token"), "utf8").trim();
  const head = (length: number, more = "") =>
    `POST /v1/tool_calls HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${more}Content-Length: ${length}\r\n\r\n`;
  const whole = (body: string) => ask(port, [head(Buffer.byteLength(body)), body]);
  const works = async () => {
    const answer = await whole('{"name":"system_info","arguments":{}}');
    expect(answer.status, answer.text).toBeLessThan(500);
  };
  await works();
  const before = residentOf(pid);
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, residentOf(pid));
  }, 20);
  onTestFinished(() => clearInterval(watch));

  for (const body of [
    '{"__proto__":{"isAdmin":true},"name":"system_info","arguments":{"__proto__":{"x":1}}}',
    '{"constructor":{"prototype":{"x":1}},"calls":[{"name":"toString","arguments":{}}]}',
    `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
    `{"name":"system_info","arguments":${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
  ]) {
    const answer = await whole(body);
    expect(answer.status, `${body.slice(0, 60)}: ${answer.text.slice(0, 300)}`).toBeGreaterThanOrEqual(200);
    expect(answer.status).toBeLessThan(500);
  }
  const piece = Buffer.alloc(MEGABYTE, "a");
  const large = await ask(port, [head(200 * MEGABYTE), ...Array.from({ length: 200 }, () => piece)]);
  expect(large.status).toBe(413);
  expect(large.sentBytes).toBeLessThan(100 * MEGABYTE);
  const headers = Array.from({ length: 100_000 }, (_, at) => `X-${at}: ${at}\r\n`).join("");
  // Who goes on sending may not hear the answer any more: 0 is a connection that was ended without one.
  expect([431, 0]).toContain((await ask(port, [head(2, headers), "{}"])).status);
  const slow = Array.from({ length: SLOW_CLIENTS }, () => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(head(1_000_000));
    const drip = setInterval(() => socket.write("a"), 100);
    onTestFinished(() => {
      clearInterval(drip);
      socket.destroy();
    });
    return socket;
  });
  await pause(2_000);
  await works();
  for (const socket of slow) socket.destroy();
  await works();
  clearInterval(watch);
  const more = (most - before) / MEGABYTE;
  if (process.env.HERMES_FUZZ === "full")
    console.log(
      `${(large.sentBytes / MEGABYTE).toFixed(1)} MB of 200 were taken before the refusal; ${more.toFixed(1)} MB more memory at most`,
    );
  expect(more).toBeLessThan(64);
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  await ended;
}, 120_000);

interface Answer {
  readonly status: number;
  readonly text: string;
  /** How much went out before the answer came. */
  readonly sentBytes: number;
}

/** Writes piece by piece, as far as the other side takes it, until there is an answer. */
function ask(port: number, pieces: readonly (string | Buffer)[]): Promise<Answer> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, "127.0.0.1");
    let text = "";
    let sentBytes = 0;
    const done = () => {
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
      socket.destroy();
      resolve({ status, text, sentBytes });
    };
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\r\n\r\n")) done();
    });
    socket.on("error", done);
    socket.on("close", done);
    void (async () => {
      for (const piece of pieces) {
        if (socket.destroyed) return;
        if (!socket.write(piece)) await new Promise((next) => socket.once("drain", next));
        sentBytes += piece.length;
      }
    })();
  });
}

function residentOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
}
