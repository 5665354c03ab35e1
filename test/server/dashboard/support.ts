import type { TestServer } from "../support.js";
import { TOKEN } from "../support.js";

export const CALL_TOKEN = "call-token-0123456789-abcdefghijklmnop";

/** What a browser has that was let in with the token. */
export interface Browser {
  readonly cookie: string;
  readonly key: string;
  readonly origin: string;
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** With everything a change needs. */
  post(path: string, body?: unknown): Promise<Response>;
}

export async function openBrowser({ server }: Pick<TestServer, "server">): Promise<Browser> {
  const first = await fetch(`${server.url}?token=${TOKEN}`, { redirect: "manual" });
  const cookie = (first.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const key = /#answers=(.+)$/.exec(first.headers.get("location") ?? "")?.[1] ?? "";
  const origin = server.url.replace(/\/$/, "");
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(new URL(path, server.url), {
      ...init,
      headers: { cookie, ...(init.headers as Record<string, string>) },
    });
  return {
    cookie,
    key,
    origin,
    ask,
    post: (path, body = {}) =>
      ask(path, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { origin, "x-hermes-page": key },
      }),
  };
}

export async function jsonOf<Answer>(answer: Response | Promise<Response>): Promise<Answer> {
  const given = await answer;
  const text = await given.text();
  if (!given.ok) throw new Error(`${given.status} ${text}`);
  return JSON.parse(text) as Answer;
}
