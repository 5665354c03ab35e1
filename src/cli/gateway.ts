import { IN_CLUSTER } from "./cluster.js";
import type { CommandSpec } from "./command.js";

export const gateway: CommandSpec = {
  about: "talk to the agent from chat platforms: Telegram, Discord, Slack, mail, webhooks",
  otherwise: "run",
  commands: {
    run: {
      about: "receive and answer messages until it is stopped",
      args: {
        "[names...]":
          "telegram, discord, slack, email, webhook, webhook:NAME; all that are configured when left out",
      },
      options: IN_CLUSTER,
      load: async () => (await import("./gateway/run.js")).run,
    },
    status: {
      about: "when each gateway last heard from its platform, and what waits",
      load: async () => (await import("./gateway/status.js")).status,
    },
    pair: {
      about: "let somebody in who was given a pairing code",
      args: { "<code>": "as the gateway told them" },
      options: { "--guest": "may talk, but approves nothing and sees answers only" },
      load: async () => (await import("./gateway/pair.js")).pair,
    },
  },
};
