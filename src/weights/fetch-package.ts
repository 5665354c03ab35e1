import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { NPM_PATIENCE, proxyVariables } from "../net/process-proxy.js";
import type { WantedPackage } from "./wanted.js";

const run = promisify(execFile);
const TRIES = 3;
const STALLED_AFTER_MS = 60_000;

export interface FetchOptions {
  readonly wanted: WantedPackage;
  /** An empty folder of the caller's, which also removes it. */
  readonly into: string;
  readonly onBytes: (received: number) => void;
}

/**
 * The packed file of a package, from the registry that npm is set up for. A plain download shows progress and goes
 * on where it was cut off; where a registry wants a log-in, a proxy or a certificate of its own, npm itself is asked.
 */
export async function fetchPackage(options: FetchOptions): Promise<string> {
  const packed = join(options.into, "package.tgz");
  try {
    const registry = await configuredRegistry();
    await download({ ...options, url: packedUrl(registry, options.wanted), to: packed });
    return packed;
  } catch (error) {
    const direct = messageOf(error);
    const asked = await packWithNpm(options, packed).catch(messageOf);
    if (asked === undefined) return packed;
    throw new Error(`${direct}; npm pack: ${asked}`);
  }
}

async function configuredRegistry(): Promise<string> {
  const { stdout } = await npm(["config", "get", "registry"]);
  const configured = stdout.trim();
  if (!/^https?:\/\//.test(configured)) throw new Error(`npm names no registry: ${configured.slice(0, 100)}`);
  return configured.endsWith("/") ? configured : `${configured}/`;
}

function packedUrl(registry: string, { name, version }: WantedPackage): string {
  return `${registry}${name}/-/${name.replace(/^@[^/]*\//, "")}-${version}.tgz`;
}

async function download(
  options: FetchOptions & { readonly url: string; readonly to: string },
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await downloadRest(options);
    } catch (error) {
      if (attempt === TRIES || error instanceof Refused) throw error;
    }
  }
}

class Refused extends Error {}

async function downloadRest(
  options: FetchOptions & { readonly url: string; readonly to: string },
): Promise<void> {
  const have = await sizeOf(options.to);
  const stalled = new AbortController();
  const watch = setTimeout(() => stalled.abort(new Error("no answer from the registry")), STALLED_AFTER_MS);
  try {
    const response = await fetch(options.url, {
      headers: have === 0 ? {} : { range: `bytes=${have}-` },
      signal: stalled.signal,
    });
    if (!response.ok || response.body === null)
      throw new Refused(`${options.url} answered ${response.status}`);
    const goesOn = response.status === 206;
    let received = goesOn ? have : 0;
    const counted = Readable.fromWeb(response.body as import("node:stream/web").ReadableStream).on(
      "data",
      (chunk: Uint8Array) => {
        watch.refresh();
        received += chunk.length;
        options.onBytes(received);
      },
    );
    await pipeline(counted, createWriteStream(options.to, { flags: goesOn ? "a" : "w" }));
  } finally {
    clearTimeout(watch);
  }
}

async function packWithNpm({ wanted, into }: FetchOptions, to: string): Promise<undefined> {
  await npm(["pack", `${wanted.name}@${wanted.version}`, "--ignore-scripts", "--pack-destination", into]);
  const made = (await readdir(into)).find((name) => name.endsWith(".tgz") && join(into, name) !== to);
  if (made === undefined) throw new Error("npm pack made no file");
  await rename(join(into, made), to);
}

function npm(args: readonly string[]): Promise<{ readonly stdout: string }> {
  // npm is a batch file on Windows, which only a shell can start; no argument comes from outside.
  const shell = process.platform === "win32";
  const env = { ...process.env, ...proxyVariables() };
  return run("npm", [...args, "--loglevel=error", ...NPM_PATIENCE], {
    env,
    shell,
    maxBuffer: 8 * 1024 * 1024,
  });
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message.trim().split("\n").slice(0, 3).join(" ")}${cause}`;
}
