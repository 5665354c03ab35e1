import { setTimeout as delay } from "node:timers/promises";
import { isRecord } from "../../../base/record.js";
import { ToolError } from "../../../tool/errors.js";
import type { FetchResponse } from "../../../tool/fetch.js";
import type { CallContext } from "../../../tool/tool.js";
import { OpenJob } from "./open-jobs.js";
import { type Aspect, PROVIDERS, type Provider, type Wanted } from "./providers.js";

const SUBMIT_MS = 240_000;
/** Ends before the call itself does, so that it can be told how to go on. */
const WAIT_MS = 270_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
const MAX_PICTURE_BYTES = 50 * 1024 * 1024;
const MAX_ANSWER_BYTES = 80 * 1024 * 1024;

export interface GeneratedPicture {
  readonly bytes: Buffer;
  readonly provider: string;
  readonly model: string;
  readonly jobId?: string | undefined;
  /** It had been ordered by an earlier call. */
  readonly resumed?: boolean | undefined;
}

interface Route {
  readonly provider: Provider;
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ctx: CallContext;
}

export async function generatePicture(request: {
  readonly prompt: string;
  readonly aspect: Aspect;
  readonly ctx: CallContext;
}): Promise<GeneratedPicture> {
  const { prompt, aspect, ctx } = request;
  const route = routeOf(ctx);
  const { provider, base } = route;
  const wanted: Wanted = { prompt, aspect, model: await modelOf(route) };
  const named = { provider: provider.name, model: wanted.model };
  if (provider.job === undefined) {
    const answer = await submit(route, wanted);
    return { ...named, bytes: await pictureIn(answer, { route, id: "" }) };
  }
  const job = new OpenJob({ cacheDir: ctx.cacheDir, provider: provider.name, base, wanted });
  const earlier = await job.id();
  const id = earlier ?? (await order({ route, wanted, job }));
  ctx.progress({
    message: `${earlier === undefined ? "ordered" : "waiting again for"} ${provider.name} job ${id}`,
  });
  const answer = await finished({ route, wanted, id, job });
  const bytes = await pictureIn(answer, { route, id });
  await job.forget();
  return { ...named, bytes, jobId: id, ...(earlier !== undefined && { resumed: true }) };
}

function routeOf(ctx: CallContext): Route {
  const settings = isRecord(ctx.settings.image_gen) ? ctx.settings.image_gen : {};
  const address = typeof settings.base_url === "string" ? settings.base_url.replace(/\/+$/, "") : "";
  const keyOf = ({ key }: Provider) => (key === undefined ? undefined : ctx.secrets.get(key) || undefined);
  const chosen = PROVIDERS.find(({ name }) => name === settings.provider);
  // Most servers that people run themselves speak the first one's language.
  const provider =
    chosen ?? (address !== "" ? PROVIDERS[0] : PROVIDERS.find((one) => keyOf(one) !== undefined));
  const key = provider === undefined ? undefined : keyOf(provider);
  if (provider === undefined || (provider.key !== undefined && key === undefined && address === "")) {
    throw new ToolError(
      provider === undefined
        ? "Nobody is set up to make pictures."
        : `${provider.name} needs ${provider.key}.`,
      {
        code: "unavailable",
        hint: "Set OPENAI_API_KEY or FAL_KEY, or image_gen.provider (sdwebui, comfyui) and image_gen.base_url.",
      },
    );
  }
  const headers = key === undefined ? [] : Object.entries(provider.headers ?? {});
  return {
    provider,
    base: address === "" ? provider.base : address,
    headers: Object.fromEntries(headers.map(([name, value]) => [name, value.replace("{key}", key ?? "")])),
    ctx,
  };
}

async function modelOf(route: Route): Promise<string> {
  const { provider, ctx } = route;
  const settings = isRecord(ctx.settings.image_gen) ? ctx.settings.image_gen : {};
  if (typeof settings.model === "string" && settings.model !== "") return settings.model;
  if (provider.models === undefined) return provider.model;
  const names = at(await ask(route, { path: provider.models.path }), provider.models.names);
  const first: unknown = Array.isArray(names) ? names[0] : undefined;
  if (typeof first === "string") return first;
  throw new ToolError(`${provider.name} has no checkpoint to draw with.`, {
    code: "unavailable",
    hint: "Put one into its models folder, or set image_gen.model.",
  });
}

/** Once: what was sent may have been paid for, whatever came back. */
async function submit(route: Route, wanted: Wanted): Promise<unknown> {
  const { submit: request } = route.provider;
  return ask(route, { path: request.path(wanted), body: JSON.stringify(request.body(wanted)) });
}

async function order({
  route,
  wanted,
  job,
}: {
  route: Route;
  wanted: Wanted;
  job: OpenJob;
}): Promise<string> {
  const id = at(await submit(route, wanted), route.provider.job?.id ?? "");
  if (typeof id !== "string" || !/^[\w-]{1,100}$/.test(id))
    throw new ToolError(`${route.provider.name} took the order without giving it a number.`);
  await job.keep(id);
  return id;
}

async function finished(waiting: {
  route: Route;
  wanted: Wanted;
  id: string;
  job: OpenJob;
}): Promise<unknown> {
  const { route, wanted, id, job } = waiting;
  const { provider, ctx } = route;
  if (provider.job === undefined) return undefined;
  const until = performance.now() + WAIT_MS;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.4, LONGEST_PAUSE_MS)) {
    const answer = await ask(route, { path: provider.job.status(id, wanted) }).catch(
      async (error: unknown) => {
        // The service no longer knows it: asking again would never end.
        if (ToolError.isInstance(error) && error.details?.status === 404) await job.forget();
        throw error;
      },
    );
    if (provider.job.isDone(answer, id)) {
      if (provider.job.result === undefined) return answer;
      return ask(route, { path: provider.job.result(id, wanted) }).catch(async (error: unknown) => {
        // Finished without a picture: it failed, or was refused, and will not be made any more.
        if (ToolError.isInstance(error) && typeof error.details?.status === "number") await job.forget();
        throw error;
      });
    }
    if (performance.now() + pause > until) {
      throw new ToolError(
        `${provider.name} has not finished the picture in ${WAIT_MS / 1000} s (job ${id}).`,
        {
          code: "timeout",
          hint: "It is ordered and goes on. Make the same call again later: it waits for this job and orders nothing new.",
          details: { job_id: id },
        },
      );
    }
    await delay(pause, undefined, { signal: ctx.signal });
  }
}

async function ask(route: Route, { path, body }: { path: string; body?: string }): Promise<unknown> {
  const { base, headers, provider, ctx } = route;
  const response = await ctx.fetch({
    url: `${base}${path}`,
    method: body === undefined ? "GET" : "POST",
    headers: {
      accept: "application/json",
      ...headers,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    body,
    timeoutMs: SUBMIT_MS,
    maxBytes: MAX_ANSWER_BYTES,
    followRedirects: false,
    configured: true,
    hints: { timeout: "The order was sent and may have been paid for; it was not sent again." },
  });
  const text = await response.text();
  if (!response.ok) throw refusedBy(provider, response, text);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ToolError(`${provider.name} did not answer in JSON.`, {
      hint: "Check image_gen.base_url.",
      cause,
    });
  }
}

async function pictureIn(answer: unknown, { route, id }: { route: Route; id: string }): Promise<Buffer> {
  const { picture, name } = route.provider;
  if ("comfyHistory" in picture) return download(comfyPicture(answer, id), route);
  const inline = "base64" in picture ? at(answer, picture.base64) : undefined;
  if (typeof inline === "string" && inline !== "")
    return Buffer.from(inline.replace(/^data:[^,]*,/, ""), "base64");
  const url = picture.url === undefined ? undefined : at(answer, picture.url);
  if (typeof url === "string" && url.startsWith("data:"))
    return Buffer.from(url.replace(/^data:[^,]*,/, ""), "base64");
  if (typeof url === "string") return download(url, route);
  throw new ToolError(`${name} answered without a picture.`, {
    hint: "Say it in other words, or try another model.",
  });
}

/** The service's own address is the operator's choice; any other one it names is judged like every address. */
async function download(url: string, { base, ctx }: Route): Promise<Buffer> {
  const full = new URL(url, `${base}/`);
  const own = full.origin === new URL(base).origin;
  const response = await ctx.fetch({
    url: full.href,
    maxBytes: MAX_PICTURE_BYTES,
    timeoutMs: 120_000,
    configured: own,
  });
  const bytes = await response.bytes();
  if (!response.ok) throw new ToolError(`The finished picture could not be fetched: ${response.status}.`);
  return bytes;
}

function comfyPicture(history: unknown, id: string): string {
  const outputs = at(history, `${id}.outputs`);
  for (const output of isRecord(outputs) ? Object.values(outputs) : []) {
    const images = at(output, "images");
    const first: unknown = Array.isArray(images) ? images[0] : undefined;
    if (!isRecord(first) || typeof first.filename !== "string") continue;
    const query = new URLSearchParams({
      filename: first.filename,
      subfolder: String(first.subfolder ?? ""),
      type: String(first.type ?? "output"),
    });
    return `view?${query}`;
  }
  throw new ToolError("ComfyUI finished the job without a picture.", {
    hint: "Look at its console for the reason.",
  });
}

function refusedBy(provider: Provider, { status }: FetchResponse, text: string): ToolError {
  const why =
    status === 401 || status === 403
      ? "refused the key"
      : status === 402
        ? "says that its credit is used up"
        : status === 429
          ? "says that it was asked too often"
          : `answered ${status}`;
  const said = reasonIn(text);
  return new ToolError(`${provider.name} ${why}${said === undefined ? "" : `: ${said}`}.`, {
    hint:
      status < 404 && provider.key !== undefined
        ? `Check ${provider.key}.`
        : "Nothing is sent again by itself.",
    details: { status },
  });
}

/** Services say in the answer why they refuse a prompt; that helps to word it otherwise. */
function reasonIn(text: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    const said =
      at(answer, "error.message") ??
      at(answer, "detail.0.msg") ??
      at(answer, "detail") ??
      at(answer, "error");
    return typeof said === "string" ? said.slice(0, 300).replace(/[.\s]+$/, "") : undefined;
  } catch {
    return undefined;
  }
}

function at(value: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (here, name) => (Array.isArray(here) ? here[Number(name)] : isRecord(here) ? here[name] : undefined),
      value,
    );
}
