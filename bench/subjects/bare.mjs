// The limits: the function itself, and the disk that a durable journal has to reach.
import { fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertEchoed, echo, echoArguments } from "../echo.mjs";
import { callOperations, oneByOne } from "../operations.mjs";

export async function open() {
  const call = (number) => echo(echoArguments(number));
  assertEchoed("bare", await call(7));
  const textCall = async (number) =>
    JSON.stringify(await echo(JSON.parse(JSON.stringify(echoArguments(number)))));
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const file = openSync(join(folder, "log"), "a");
  const syncedAppend = async (number) => {
    writeSync(file, `${JSON.stringify({ number, row: "x".repeat(200) })}\n`);
    fdatasyncSync(file);
  };
  return {
    operations: { ...callOperations(call), text: oneByOne(textCall), syncedAppend: oneByOne(syncedAppend) },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
