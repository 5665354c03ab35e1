import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "../base/record.js";

/** A server of this home that answers now. */
export interface RunningServer {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  readonly started_at: number;
  /** Whether a browser shows its page. */
  readonly page_open: boolean;
}

type Noted = Pick<RunningServer, "url" | "pid" | "started_at">;

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
    if (!isRecord(health) || health.ok !== true) return undefined;
    return { ...found, version: String(health.version), page_open: health.page_open === true };
  } catch {
    return undefined;
  }
}

async function noted(home: string): Promise<Noted | undefined> {
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
