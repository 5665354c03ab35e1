import { isRecord } from "../base/record.js";
import { networkRules } from "../net/rules.js";
import { loadPackage } from "../runtime/packages/find.js";
import type { Runtime } from "../runtime/runtime.js";
import { DiscordGateway } from "./discord/discord.js";
import { EmailGateway } from "./email/email.js";
import type { ConfiguredGateway } from "./hub.js";
import type { Role } from "./people.js";
import { SlackGateway } from "./slack/slack.js";
import { TelegramGateway } from "./telegram/telegram.js";
import { WebhookGateway } from "./webhook/webhook.js";

/** The gateways of the settings; what a setting alone switches on needs no further command. */
export function configuredGateways(runtime: Runtime): readonly ConfiguredGateway[] {
  return [
    ...telegram(runtime),
    ...discord(runtime),
    ...slack(runtime),
    ...email(runtime),
    ...webhooks(runtime),
  ];
}

function telegram({ config }: Runtime): readonly ConfiguredGateway[] {
  const { token, api_root: apiRoot, allowed_users, owners } = config.values.gateways.telegram;
  if (token === "") return [];
  const gateway = new TelegramGateway({
    token,
    apiRoot: apiRoot.replace(/\/+$/, ""),
    load: () => loadPackage("grammy", config.paths.home) as Promise<typeof import("grammy")>,
  });
  return [{ gateway, ...membersOf({ allowed: allowed_users, owners }) }];
}

function discord({ config }: Runtime): readonly ConfiguredGateway[] {
  const { token, api_root: apiRoot, allowed_users, owners } = config.values.gateways.discord;
  if (token === "") return [];
  const gateway = new DiscordGateway({
    token,
    apiRoot: apiRoot.replace(/\/+$/, ""),
    load: () => loadPackage("discord.js", config.paths.home) as Promise<typeof import("discord.js")>,
  });
  return [{ gateway, ...membersOf({ allowed: allowed_users, owners }) }];
}

function slack({ config }: Runtime): readonly ConfiguredGateway[] {
  const {
    token,
    app_token: appToken,
    api_root: apiRoot,
    allowed_users,
    owners,
  } = config.values.gateways.slack;
  if (token === "") return [];
  const { home } = config.paths;
  const gateway = new SlackGateway({
    token,
    appToken,
    apiRoot: apiRoot.replace(/\/*$/, "/"),
    loadWeb: () => loadPackage("@slack/web-api", home) as Promise<typeof import("@slack/web-api")>,
    loadSocket: () => loadPackage("@slack/socket-mode", home) as Promise<typeof import("@slack/socket-mode")>,
  });
  return [{ gateway, ...membersOf({ allowed: allowed_users, owners }) }];
}

function email({ config }: Runtime): readonly ConfiguredGateway[] {
  const {
    imap_url: imapUrl,
    smtp_url,
    verdicts_of,
    allowed_users,
    owners,
    address,
  } = config.values.gateways.email;
  if (imapUrl === "") return [];
  const { home } = config.paths;
  const mailbox = URL.canParse(imapUrl) ? new URL(imapUrl) : undefined;
  const own = (address || decodeURIComponent(mailbox?.username ?? "")).toLowerCase();
  const usual = [mailbox?.hostname ?? "", own.split("@")[1] ?? ""].filter((name) => name !== "");
  const gateway = new EmailGateway({
    imapUrl,
    smtpUrl: smtp_url || config.values.email.smtp_url,
    address: own,
    servers: (verdicts_of.length > 0 ? verdicts_of : usual).map((name) => name.toLowerCase()),
    loadImap: () => loadPackage("imapflow", home) as Promise<typeof import("imapflow")>,
    loadParser: () => loadPackage("mailparser", home) as Promise<typeof import("mailparser")>,
  });
  const lower = (list: readonly string[]) => list.map((each) => each.toLowerCase());
  return [{ gateway, ...membersOf({ allowed: lower(allowed_users), owners: lower(owners) }) }];
}

/** Whoever has the secret is a guest there: a program, not a person. */
function webhooks({ config }: Runtime): readonly ConfiguredGateway[] {
  return Object.entries(config.values.webhooks).flatMap(([name, written]) => {
    if (!isRecord(written) || typeof written.secret !== "string" || written.secret === "") return [];
    const { secret, url } = written;
    const gateway = new WebhookGateway({
      name,
      secret,
      url: typeof url === "string" && URL.canParse(url) ? url : undefined,
      rules: () => networkRules(config.values),
    });
    return [{ gateway, role: () => "guest" as const, people: [] }];
  });
}

function membersOf(named: { readonly allowed: readonly string[]; readonly owners: readonly string[] }) {
  return { role: rolesOf(named), people: [...new Set([...named.allowed, ...named.owners].map(String))] };
}

/** Nobody who is not named. Without owners of their own, those who may talk are the owners. */
export function rolesOf(named: {
  readonly allowed: readonly string[];
  readonly owners: readonly string[];
}): (person: string) => Role | undefined {
  const owners = new Set((named.owners.length > 0 ? named.owners : named.allowed).map(String));
  const allowed = new Set(named.allowed.map(String));
  return (person) => (owners.has(person) ? "owner" : allowed.has(person) ? "guest" : undefined);
}
