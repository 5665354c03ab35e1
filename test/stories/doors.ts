import OpenAI from "openai";
import type { ApprovalReply } from "../../src/call/scope.js";
import { startGateways } from "../../src/gateway/start.js";
import { createAgent } from "../../src/index.js";
import { startServer, TOKEN } from "../server/support.js";
import { type ShownMessage, TelegramServer } from "../support/platforms/telegram-server.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";
import type { Asked, Step } from "../support/scripted-model/scenario.js";
import { type ScriptedModel, startScriptedModel } from "../support/scripted-model/server.js";

/** How a message was answered, whichever door it came through. */
export interface Told {
  readonly text: string;
  readonly stop: string;
  readonly tool_calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly ok: boolean;
    readonly error?: { readonly code: string } | undefined;
  }[];
}

export interface Visit {
  readonly model: ScriptedModel;
  readonly cwd: string;
  readonly home: string;
  /** One conversation: each message goes on with it. */
  say(message: string): Promise<Told>;
}

export interface Story {
  readonly steps?: readonly Step[];
  readonly answer?: (asked: Asked) => Step;
  readonly flags?: Readonly<Record<string, unknown>>;
  /** What the person says to each question; nobody is there without it. */
  readonly person?: (what: string) => ApprovalReply;
}

type Door = (story: Story) => Promise<Visit>;

/** The same story through each: the library asks in Anthropic's format, HTTP in OpenAI's, once whole and once streamed. */
export const DOORS: readonly (readonly [name: string, open: Door])[] = [
  ["the library", throughLibrary],
  ["HTTP", (story) => throughHttp(story, { stream: false })],
  ["HTTP, streamed", (story) => throughHttp(story, { stream: true })],
  ["a gateway", throughGateway],
];

async function modelFor({ steps, answer }: Story): Promise<ScriptedModel> {
  const model = await startScriptedModel({ steps, answer });
  onTestEnd(() => model.close());
  return model;
}

function settings(model: ScriptedModel, provider: string): Readonly<Record<string, unknown>> {
  return {
    "model.provider": provider,
    "model.name": "scripted",
    "model.base_url": model.url,
    "model.api_key": "test-key",
  };
}

async function throughLibrary(story: Story): Promise<Visit> {
  const model = await modelFor(story);
  const { runtime, cwd, home } = await testRuntime([], {
    builtins: true,
    flags: { ...settings(model, "anthropic"), ...story.flags },
  });
  const { person } = story;
  const agent = await createAgent({
    runtime,
    ...(person !== undefined && {
      approver: ({ args }: { readonly args: Readonly<Record<string, unknown>> }) =>
        person(String(args.command)),
    }),
  });
  onTestEnd(() => agent.close());
  const say = async (message: string): Promise<Told> => {
    for await (const event of agent.send(message)) if (event.type === "result") return event;
    throw new Error("the turn ended without a result");
  };
  return { model, cwd, home, say };
}

interface Question {
  readonly id: string;
  readonly hash: string;
  readonly signature: string;
  readonly what: string;
}

async function throughHttp(story: Story, { stream }: { readonly stream: boolean }): Promise<Visit> {
  const model = await modelFor(story);
  const { person } = story;
  const { server, cwd, home, ask } = await startServer([], {
    runtime: {
      builtins: true,
      flags: {
        ...settings(model, "compatible"),
        ...(person !== undefined && { "approvals.unattended_mode": "queue" }),
        ...story.flags,
      },
    },
  });
  const openai = new OpenAI({ apiKey: TOKEN, baseURL: new URL("/v1", server.url).href, maxRetries: 0 });
  let session: string | undefined;

  const answerQuestions = async () => {
    if (person === undefined) return;
    const { approvals } = (await (await ask("/v1/approvals")).json()) as { approvals: readonly Question[] };
    for (const { id, hash, signature, what } of approvals)
      await ask("/v1/approvals", {
        method: "POST",
        body: JSON.stringify({ id, hash, signature, ...person(what) }),
      });
  };

  const say = async (message: string): Promise<Told> => {
    const messages = [{ role: "user" as const, content: message }];
    const headers = session === undefined ? {} : { "x-hermes-session": session };
    const asked = openai.chat.completions
      .create({ model: "hermes", messages, stream }, { headers })
      .then(toldIn);
    const over = asked.then(
      () => true,
      () => true,
    );
    while (!(await Promise.race([over, answerQuestions().then(() => soon())])));
    const told = await asked;
    session = told.session;
    return told;
  };
  return { model, cwd, home, say };
}

const soon = () => new Promise<false>((resolve) => setTimeout(() => resolve(false), 20));

/** Somebody on Telegram, who sees texts and buttons and nothing else; what tools did is told by the runtime. */
async function throughGateway(story: Story): Promise<Visit> {
  const model = await modelFor(story);
  const { person } = story;
  const telegram = await new TelegramServer().listen();
  const { runtime, cwd, home } = await testRuntime([], {
    builtins: true,
    flags: {
      ...settings(model, "compatible"),
      "gateways.telegram.token": telegram.token,
      "gateways.telegram.api_root": telegram.url,
      "gateways.telegram.allowed_users": ["42"],
      platform_toolsets: { telegram: ["all"] },
      ...story.flags,
    },
  });
  const calls: Told["tool_calls"][number][] = [];
  runtime.events.on((event) => {
    if (event.type !== "call.finished" || event.door !== "gateway" || event.parent !== undefined) return;
    const { id, name, ok, code } = event;
    calls.push({ id, name, ok, ...(code !== undefined && { error: { code } }) });
  });
  const gateways = await startGateways(runtime);
  onTestEnd(async () => gateways?.stop());
  const isQuestion = ({ text }: ShownMessage) => text.includes("asks for approval");
  const answered = new Set<number>();

  const answerQuestions = () => {
    for (const question of telegram.shown.filter(isQuestion)) {
      if (person === undefined || question.buttons.length === 0 || answered.has(question.id)) continue;
      answered.add(question.id);
      const { answer, reason } = person(question.text);
      if (reason !== undefined) telegram.say({ text: `no: ${reason}` });
      else telegram.press(question, answer === "once" ? "Once" : "Deny");
    }
  };

  const say = async (message: string): Promise<Told> => {
    const before = telegram.shown.length;
    calls.length = 0;
    telegram.say({ text: message });
    for (;;) {
      const reply = telegram.shown.slice(before).find((shown) => !isQuestion(shown));
      if (reply !== undefined) {
        const { text } = reply;
        return { text, stop: /^That failed:/m.test(text) ? "error" : "end", tool_calls: [...calls] };
      }
      answerQuestions();
      await soon();
    }
  };
  return { model, cwd, home, say };
}

type HermesPart = Omit<Told, "text"> & { readonly session: string };

/** What we add to OpenAI's own shapes; its client passes it on. */
function hermesPart(answer: object): Partial<HermesPart> {
  return "hermes" in answer ? (answer.hermes as Partial<HermesPart>) : {};
}

async function toldIn(
  answer: OpenAI.ChatCompletion | AsyncIterable<OpenAI.ChatCompletionChunk>,
): Promise<Told & { readonly session: string }> {
  let text = "";
  let about: Partial<HermesPart> = {};
  if (Symbol.asyncIterator in answer) {
    for await (const chunk of answer) {
      text += chunk.choices[0]?.delta.content ?? "";
      if (hermesPart(chunk).session !== undefined) about = hermesPart(chunk);
    }
  } else {
    text = answer.choices[0]?.message.content ?? "";
    about = hermesPart(answer);
  }
  const { session = "", stop = "", tool_calls = [] } = about;
  return { text, session, stop, tool_calls };
}
