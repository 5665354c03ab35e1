import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { openConversations } from "../../src/agent/sessions/conversation-store.js";
import { unlessAborted } from "../../src/base/deadline.js";
import { rolesOf } from "../../src/gateway/configured.js";
import type { Gateway } from "../../src/gateway/gateway.js";
import { openGatewayStore } from "../../src/gateway/gateway-store.js";
import { type ConfiguredGateway, GatewayHub } from "../../src/gateway/hub.js";
import { TelegramGateway } from "../../src/gateway/telegram/telegram.js";
import type { ModelPart, ModelRequest } from "../../src/model/model-client.js";
import type { TelegramServer } from "../support/platforms/telegram-server.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";

const USAGE = { inputTokens: 10, outputTokens: 5 };

export type Answer = string | { readonly call: string; readonly arguments: unknown };

/** Decides by what was said last what the model does. */
export type Decide = (last: string, request: ModelRequest) => Answer | Promise<Answer>;

export function telegramAt(
  server: Pick<TelegramServer, "token" | "apiRoot">,
  traits: object = {},
): TelegramGateway {
  return new TelegramGateway({
    token: server.token,
    apiRoot: server.apiRoot,
    load: () => import("grammy"),
    pollSeconds: 5,
    traits: { paceMs: 0, ...traits },
  });
}

/** Ann (42) is an owner, Bob (43) a guest, everybody else a stranger. */
export const ROLES = rolesOf({ allowed: ["42", "43"], owners: ["42"] });

export interface TestHub {
  readonly hub: GatewayHub;
  readonly runtime: Awaited<ReturnType<typeof testRuntime>>["runtime"];
  readonly home: string;
  readonly cwd: string;
  readonly asked: readonly ModelRequest[];
  readonly store: Awaited<ReturnType<typeof openGatewayStore>>;
  readonly conversations: Awaited<ReturnType<typeof openConversations>>;
  readonly logged: readonly string[];
  /** As if the process had ended in an orderly way. */
  close(): Promise<void>;
}

export async function hubWith(options: {
  readonly gateways: readonly (Gateway | ConfiguredGateway)[];
  readonly decide?: Decide | undefined;
  readonly home?: string | undefined;
  readonly cwd?: string | undefined;
  readonly config?: string | undefined;
  readonly backoff?: { readonly firstMs: number; readonly maxMs: number } | undefined;
}): Promise<TestHub> {
  const { decide = (last: string) => `You said: ${last}`, home = tempDir(), backoff } = options;
  if (options.config !== undefined) writeFileSync(join(home, "config.yaml"), options.config);
  const { runtime, cwd, logged } = await testRuntime([], {
    builtins: true,
    home,
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  const store = await openGatewayStore(join(home, "gateways.db"));
  const conversations = await openConversations({
    sessionsDb: join(home, "sessions.db"),
    sessionsIndex: join(home, "sessions-index.db"),
  });
  const asked: ModelRequest[] = [];
  const hub = new GatewayHub({
    runtime,
    store,
    conversations,
    backoff: backoff ?? { firstMs: 20, maxMs: 200 },
    gateways: options.gateways.map((each) => ("gateway" in each ? each : { gateway: each, role: ROLES })),
    model: async () => ({
      name: "test:scripted",
      client: {
        async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
          asked.push(request);
          const answer = await heeding(request.signal, decide(lastText(request), request));
          if (typeof answer === "string") yield { type: "text", text: answer };
          else {
            const { call: name, arguments: given } = answer;
            yield {
              type: "tool_call",
              call: { id: `c${asked.length}`, name, arguments: JSON.stringify(given) },
            };
          }
          const reason = typeof answer === "string" ? ("stop" as const) : ("tool_calls" as const);
          yield { type: "finish", reason, usage: USAGE };
        },
      },
    }),
  });
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= (async () => {
      await hub.stop();
      await store.close();
      await conversations.close();
    })();
    return closing;
  };
  onTestEnd(close);
  await hub.start();
  return { hub, runtime, home, cwd, asked, store, conversations, logged, close };
}

export function lastText({ messages }: Pick<ModelRequest, "messages">): string {
  const content = messages.at(-1)?.content ?? "";
  const text =
    typeof content === "string"
      ? content
      : content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("");
  // Without who wrote it and when.
  return text.replace(/\n\n\[[^\]]*ago, [^\]]*\]$/, "");
}

/** Until it holds, however busy the machine is. */
export async function eventually(check: () => void | Promise<void>): Promise<void> {
  await vi.waitFor(check, { timeout: 20_000, interval: 10 });
}

export async function shows(server: TelegramServer, texts: readonly string[]): Promise<void> {
  await eventually(() => expect(server.shown.map(({ text }) => text)).toEqual(texts));
}

/** A model that is interrupted does not go on. */
function heeding<T>(signal: AbortSignal | undefined, work: T | Promise<T>): Promise<T> {
  const pending = Promise.resolve(work);
  return signal === undefined ? pending : unlessAborted(pending, signal);
}
