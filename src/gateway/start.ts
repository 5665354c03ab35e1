import { configuredModel } from "../agent/configured-model.js";
import { openConversations } from "../agent/sessions/conversation-store.js";
import type { Runtime } from "../runtime/runtime.js";
import { configuredGateways } from "./configured.js";
import { openGatewayStore } from "./gateway-store.js";
import { GatewayHub } from "./hub.js";
import { type HookAnswer, WebhookGateway } from "./webhook/webhook.js";

export interface StartedGateways {
  readonly names: readonly string[];
  /** Run by another process. */
  readonly busy: readonly string[];
  /** Of the names those that another machine of the cluster runs, until it dies. */
  readonly standby: readonly string[];
  /** Takes what comes to `/hooks/NAME`. */
  readonly hooks: {
    accept(name: string, delivery: Parameters<WebhookGateway["accept"]>[0]): Promise<HookAnswer | undefined>;
  };
  stop(): Promise<void>;
}

/** Runs what the settings configure, or some of it: by name (`webhook:build`) or platform (`telegram`). */
export async function startGateways(
  runtime: Runtime,
  { only }: { readonly only?: readonly string[] | undefined } = {},
): Promise<StartedGateways | undefined> {
  const { config, log } = runtime;
  const wanted = configuredGateways(runtime).filter(
    ({ gateway }) => only === undefined || only.includes(gateway.name) || only.includes(gateway.platform),
  );
  if (wanted.length === 0) return undefined;
  const store = await openGatewayStore(config.paths.gatewaysDb, runtime.sharedLog);
  const conversations = await openConversations(config.paths, { log: runtime.sharedLog });
  for (const notice of [...store.notices, ...conversations.notices]) log.warn(notice);
  const hub = new GatewayHub({
    runtime,
    store,
    conversations,
    gateways: wanted,
    model: () =>
      configuredModel(config, {
        onNotice: (message) => log.warn(message),
      }),
  });
  const { busy, standby } = await hub.start();
  const webhooks = new Map(
    wanted.flatMap(({ gateway }) =>
      gateway instanceof WebhookGateway ? [[gateway.name, gateway] as const] : [],
    ),
  );
  return {
    names: wanted.map(({ gateway }) => gateway.name).filter((name) => !busy.includes(name)),
    busy,
    standby,
    hooks: {
      accept: async (name, delivery) => webhooks.get(`webhook:${name}`)?.accept(delivery),
    },
    async stop() {
      await hub.stop();
      await store.close();
      await conversations.close();
    },
  };
}
