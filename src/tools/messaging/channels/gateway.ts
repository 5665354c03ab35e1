import type { Channel } from "./channel.js";

/**
 * Chats of a platform on which people talk to the agent: `telegram:42`. Nobody is asked for a text: it reaches only those
 * whom the operator has let in. A file is asked about, except where it goes to the chat the conversation is in.
 */
export function gatewayChannel(name: string): Channel {
  const targetOf = (address: string) => (address === "" ? name : `${name}:${address}`);
  return {
    name,

    effects({ address, files = [] }) {
      const resource = targetOf(address);
      const reason = `would send ${files.join(", ")} to ${resource}`;
      return [
        {
          action: "message:send",
          resource,
          mode: "write",
          reversible: false,
          ...(files.length > 0 && name !== "here" && { ask: { reason, unlessNamed: true } }),
        },
      ];
    },

    async targets({ host }) {
      const all = (await host.messages?.targets()) ?? [];
      return all.filter(({ target }) => target.startsWith(`${name}:`));
    },

    async send({ address, text, attachments = [] }, { host, signal }) {
      return host.messages?.send({ target: targetOf(address), text, files: attachments, signal });
    },
  };
}
