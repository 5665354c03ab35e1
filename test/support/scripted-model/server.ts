import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Account, tokensOf } from "./account.js";
import { anthropic } from "./formats/anthropic.js";
import { chat } from "./formats/chat.js";
import { type Answer, type Body, type Format, record } from "./formats/format.js";
import { gemini } from "./formats/gemini.js";
import { responses } from "./formats/responses.js";
import { type Asked, readScenario, Script, type ScriptedCall, type Step } from "./scenario.js";

const FORMATS: Readonly<Record<string, Format>> = { chat, responses, anthropic, gemini };

/** What a request was, and what became of it. */
export interface Recorded extends Asked {
  readonly format: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Body;
  /** Characters of the prompt that an earlier one began with. */
  readonly knownPrefix: number;
  readonly promptLength: number;
  /** The step that answered; undefined when there was none left. */
  readonly step: Step | undefined;
}

export interface ScriptedModel extends AsyncDisposable {
  /** Base address for every format. */
  readonly url: string;
  readonly requests: readonly Recorded[];
  readonly account: Account;
  /** Steps nobody has asked for. */
  readonly unused: readonly Step[];
  /** Requests that were refused as a real server would: unanswered calls, foreign signatures, a script that is over. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/**
 * A server on a free port of this machine that speaks the wire formats of the providers and plays a script: a file, a
 * list of steps, or a function. It refuses what the providers refuse.
 */
export async function startScriptedModel(options: {
  readonly file?: string | undefined;
  readonly steps?: readonly Step[] | undefined;
  readonly answer?: ((asked: Asked) => Step) | undefined;
  /** What `GET /v1/models` lists. */
  readonly models?: readonly string[] | undefined;
}): Promise<ScriptedModel> {
  const steps = options.file === undefined ? (options.steps ?? []) : readScenario(options.file).steps;
  const play = new Play(new Script(steps), options.answer);
  const server = createServer((request, response) => {
    if (request.method === "GET") return listModels(response, options.models ?? ["scripted"]);
    play.answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: play.requests,
    account: play.account,
    complaints: play.complaints,
    get unused() {
      return play.script.unused;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function listModels(response: ServerResponse, models: readonly string[]): void {
  const data = models.map((id) => ({ id, object: "model", owned_by: "scripted" }));
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ object: "list", data }));
}

class Play {
  readonly script: Script;
  readonly requests: Recorded[] = [];
  readonly complaints: string[] = [];
  readonly account = new Account();
  readonly #choose: ((asked: Asked) => Step) | undefined;
  readonly #signatures = new Map<string, { readonly reasoning: string; readonly model: string }>();
  #calls = 0;

  constructor(script: Script, choose: ((asked: Asked) => Step) | undefined) {
    this.script = script;
    this.#choose = choose;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "", "http://x").pathname;
    const body = await bodyOf(request);
    const [name, format] = Object.entries(FORMATS).find(([, one]) => one.matches(path) !== undefined) ?? [];
    if (name === undefined || format === undefined) {
      response.writeHead(404).end();
      return;
    }
    const asked: Asked = {
      model: String(body.model ?? ""),
      stream: body.stream === true,
      ...format.matches(path),
      ...format.read(body),
    };
    const wrong = format.refuses(body, this.#signatures);
    const step = wrong === undefined ? (this.#choose?.(asked) ?? this.script.next(asked)) : undefined;
    const { known, length } = this.account.knownPrefix(asked);
    const { headers } = request;
    this.requests.push({
      ...asked,
      format: name,
      path,
      headers,
      body,
      step,
      knownPrefix: known,
      promptLength: length,
    });
    if (step === undefined) {
      const complaint = wrong ?? `no step is left for: ${asked.messages.at(-1)?.text ?? ""}`;
      this.complaints.push(complaint);
      return refuse(response, { format, status: 400, error: complaint });
    }
    await wait(step.waitMs);
    if (step.status !== undefined) return refuse(response, { ...step, format, status: step.status });
    const answer = this.#answerOf(step, asked, { known, length });
    if (asked.stream) await stream(response, { format, answer, step });
    else {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(format.whole(answer)));
    }
    if (step.afterwards === undefined) this.account.add(asked.model, answer.bill);
  }

  #answerOf(step: Step, asked: Asked, prompt: { readonly known: number; readonly length: number }): Answer {
    const { text = "", reasoning = "", usage = {} } = step;
    const calls = (step.calls ?? []).flatMap(repeated);
    const cut = step.finish === "length";
    const written = calls.map(({ id, name, arguments: given = {} }, at) => {
      this.#calls += 1;
      const whole = typeof given === "string" ? given : JSON.stringify(given);
      const isCut = cut && at === calls.length - 1;
      return {
        id: id ?? `call_${this.#calls}`,
        name,
        arguments: isCut ? whole.slice(0, Math.ceil(whole.length / 2)) : whole,
      };
    });
    const signature = createHash("sha256").update(`${this.requests.length} ${reasoning}`).digest("base64");
    if (reasoning !== "") this.#signatures.set(signature, { reasoning, model: asked.model });
    const output = text.length + reasoning.length + JSON.stringify(calls).length;
    const input = usage.input ?? tokensOf(prompt.length);
    return {
      model: asked.model,
      reasoning,
      signature,
      text: cut && calls.length === 0 ? text.slice(0, Math.ceil(text.length / 2)) : text,
      calls: written,
      finish: step.finish ?? (calls.length > 0 ? "tool_calls" : "stop"),
      bill: {
        inputTokens: input,
        outputTokens: usage.output ?? tokensOf(output),
        cachedTokens: usage.cached ?? (usage.input === undefined ? Math.floor(prompt.known / 4) : 0),
      },
    };
  }
}

function repeated({ times, ...call }: ScriptedCall): readonly ScriptedCall[] {
  if (times === undefined) return [call];
  return Array.from({ length: times }, (_, at) => {
    const written = JSON.stringify(call).replaceAll("{n}", String(at + 1));
    return JSON.parse(written) as ScriptedCall;
  });
}

async function stream(
  response: ServerResponse,
  { format, answer, step }: { readonly format: Format; readonly answer: Answer; readonly step: Step },
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const piece of format.stream(answer)) {
    response.write(piece);
    await wait(step.paceMs);
  }
  if (step.afterwards === "fall_silent") return;
  if (step.afterwards === "break_off") {
    // What was written is to arrive before the connection goes.
    setImmediate(() => response.destroy());
    return;
  }
  response.end(
    step.afterwards === "error" ? format.streamedError(step.error ?? "Overloaded") : format.end(answer),
  );
}

function refuse(
  response: ServerResponse,
  told: {
    readonly format: Format;
    readonly status: number;
    readonly error?: string | undefined;
    readonly code?: string | undefined;
    readonly retryAfterSeconds?: number | undefined;
  },
): void {
  const { format, status, error = "No", code, retryAfterSeconds } = told;
  response.writeHead(status, {
    "content-type": "application/json",
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  });
  response.end(JSON.stringify(format.error(status, error, code)));
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return record(JSON.parse(Buffer.concat(chunks).toString("utf8")));
}

async function wait(ms: number | undefined): Promise<void> {
  if (ms !== undefined && ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
