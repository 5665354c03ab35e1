import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { lockPath } from "../../src/env/local/file-lock.js";

test("who holds a path makes others wait until it lets go", async () => {
  const path = `/somewhere/${process.pid}/held`;
  const release = await lockPath(path);
  const order: string[] = [];
  const second = lockPath(path).then((releaseSecond) => {
    order.push("second");
    releaseSecond();
  });
  const other = await lockPath(`${path}-other`);
  other();
  order.push("released");
  release();
  await second;
  expect(order).toEqual(["released", "second"]);
});

test.skipIf(process.platform !== "linux")("a holder that is killed lets go", async () => {
  const path = `/somewhere/${process.pid}/killed`;
  const name = `\\0hermes-write-${process.getuid?.() ?? 0}-${hash("sha1", path, "hex")}`;
  const holder = spawn(
    process.execPath,
    ["-e", `require("node:net").createServer(() => {}).listen("${name}", () => console.log("held"))`],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  onTestFinished(() => void holder.kill("SIGKILL"));
  await once(holder.stdout, "data");
  const waiting = lockPath(path);
  const early = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 100, "waits"))]);
  expect(early).toBe("waits");
  holder.kill("SIGKILL");
  (await waiting)();
});
