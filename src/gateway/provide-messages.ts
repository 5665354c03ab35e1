import type { Runtime } from "../runtime/runtime.js";
import type { MessagesHost } from "../tool/host-capabilities.js";

/** Lets the tools of every session reach the chats of gateways; what that needs is loaded when it is first used. */
export function provideMessages(runtime: Runtime): void {
  let loaded: Promise<MessagesHost> | undefined;
  const load = () => {
    loaded ??= import("./messages.js").then(({ GatewayMessages }) => new GatewayMessages({ runtime }));
    return loaded;
  };
  runtime.messages = {
    targets: async () => (await load()).targets(),
    send: async (message) => (await load()).send(message),
  };
}
