import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "../base/record.js";

/** A server of this home that answers now. */
export interface RunningServer {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  readonly started_at: number;
}

const ANSWERS_WITHIN_MS = 2_000;

/** Tells other commands of this home where the server is; it holds nothing secret. */
export async function noteServer(home: string, url: string): Promise<() => Promise<void>> {
  const path = fileOf(home);
  const mine = { url, pid: process.pid, started_at: Date.now() };
  await writeFile(`${path}.${process.pid}`, `${JSON.stringify(mine)}\n`, { mode: 0o600 });
  await rename(`${path}.${process.pid}`, path);
  return async () => {
    // Another one may have taken its place meanwhile.
    if ((await noted(home))?.pid === process.pid) await rm(path, { force: true });
  };
}

/** The server that runs for this home, asked whether it is there; undefined when none answers. */
export async function runningServer(home: string): Promise<RunningServer | undefined> {
  const found = await noted(home);
  if (found === undefined) return undefined;
  try {
    const answer = await fetch(new URL("/healthz", found.url), {
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    });
    const health: unknown = await answer.json();
    return isRecord(health) && health.ok === true ? { ...found, version: String(health.version) } : undefined;
  } catch {
    return undefined;
  }
}

async function noted(home: string): Promise<Omit<RunningServer, "version"> | undefined> {
  try {
    const { url, pid, started_at } = JSON.parse(await readFile(fileOf(home), "utf8")) as Record<
      string,
      unknown
    >;
    const isOurs = typeof url === "string" && /^http:\/\/[^/]+\/?$/.test(url);
    return isOurs && typeof pid === "number" && typeof started_at === "number"
      ? { url, pid, started_at }
      : undefined;
  } catch {
    return undefined;
  }
}

function fileOf(home: string): string {
  return join(home, "server.json");
}
