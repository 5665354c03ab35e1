import { isRecord } from "../../base/record.js";
import { setConfigValue, writeSecret } from "../../config/edit.js";
import { checked, complaintAbout, type Tree, valueAt } from "./settings.js";
import { failed, type Homes, kept, migrated, type Step } from "./step.js";

/** Fields that mean the same in both; of `sampling`, which is on there unless said otherwise, nothing is taken. */
const FIELDS = [
  "command",
  "args",
  "env",
  "cwd",
  "url",
  "headers",
  "transport",
  "auth",
  "enabled",
  "timeout",
  "connect_timeout",
  "supports_parallel_tool_calls",
] as const;
const TOOL_FIELDS = ["include", "exclude", "resources", "prompts"] as const;
const SECRET = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTHORIZATION|COOKIE/i;

export function planMcpServers(
  { home }: Homes,
  config: { readonly theirs: Tree; readonly ours: Tree },
): Step[] {
  const { mcp_servers: servers } = config.theirs;
  if (!isRecord(servers)) return [];
  const names = new Set(Object.keys(servers));
  return Object.entries(servers).map(([original, given]) => {
    const name = nameHere(original);
    const key = `mcp_servers.${name}`;
    const item = { kind: "mcp_server", name: original } as const;
    if (name !== original && (name === "" || names.has(name)))
      return failed({ ...item, reason: "a name here has letters, digits, - and _; rename it there first" });
    names.add(name);
    if (!isRecord(given)) return failed({ ...item, reason: "it is no section with command or url" });
    if (valueAt(config.ours, key) !== undefined)
      return kept({ ...item, reason: "there is a server of that name here, which stays" });
    const { server, secrets } = withoutSecrets(name, taken(given));
    const complaint = complaintAbout(key, server);
    if (complaint !== undefined) return failed({ ...item, reason: complaint });
    const left = Object.keys(given).filter((field) => field !== "tools" && !isIn(FIELDS, field));
    const reasons = [
      left.length === 0 ? [] : `no counterpart here: ${left.join(", ")}`,
      secrets.size === 0 ? [] : `its secrets are in .env: ${[...secrets.keys()].join(", ")}`,
    ].flat();
    return migrated({ ...item, to: key, reason: reasons.join("; ") || undefined }, async () => {
      for (const [secret, value] of secrets) checked(await writeSecret({ home, name: secret, value }));
      checked(await setConfigValue({ home, key, value: server }));
    });
  });
}

function nameHere(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, "");
}

function taken(given: Tree): Record<string, unknown> {
  const pick = (from: Tree, names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => (from[name] === undefined || from[name] === null ? [] : [[name, from[name]]])),
    );
  const tools = isRecord(given.tools) ? pick(given.tools, TOOL_FIELDS) : {};
  return { ...pick(given, FIELDS), ...(Object.keys(tools).length > 0 && { tools }) };
}

/** A key that was written out in config.yaml goes to .env, and its name stands in its place. */
function withoutSecrets(
  name: string,
  server: Record<string, unknown>,
): { readonly server: Tree; readonly secrets: ReadonlyMap<string, string> } {
  const secrets = new Map<string, string>();
  const cleaned = (field: "env" | "headers") => {
    const section = server[field];
    if (!isRecord(section)) return {};
    const entries = Object.entries(section).map(([key, value]) => {
      if (typeof value !== "string" || !SECRET.test(key) || value === "" || value.includes("${"))
        return [key, value];
      const variable = `MCP_${name}_${key}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
      secrets.set(variable, value);
      return [key, `\${${variable}}`];
    });
    return { [field]: Object.fromEntries(entries) };
  };
  return { server: { ...server, ...cleaned("env"), ...cleaned("headers") }, secrets };
}

function isIn(names: readonly string[], name: string): boolean {
  return names.includes(name);
}
