import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { type NameRecord, RECORD_TYPES, type RecordType } from "../../tool/fetch.js";
import { columns } from "../../tool/marked-text.js";

const MAX_RECORDS = 500;

interface DnsOutput {
  readonly name: string;
  readonly type: RecordType;
  readonly found: boolean;
  readonly records: readonly NameRecord[];
  readonly reason?: string | undefined;
  readonly server: string;
  readonly query_time_ms: number;
  readonly truncated: boolean;
}

export default defineTool({
  name: "dns_lookup",
  toolset: "dns",
  emoji: "🧭",
  description: "Look up DNS records of a name; an IP address gives its names (PTR).",
  parameters: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 255 },
      type: { type: "string", enum: [...RECORD_TYPES], description: "A unless said; PTR for an address" },
      server: { type: "string", description: "Name server as IP or IP:port; the system's when left out" },
    },
    required: ["name"],
    additionalProperties: false,
  },
  permissions: ["network:fetch"],
  effects: ({ name, server }) => [
    { action: "network:fetch", resource: `dns:${name}`, mode: "read" },
    ...(server === undefined ? [] : [serverEffect(server)]),
  ],
  idempotent: true,
  timeoutMs: 20_000,

  async handler({ name, type, server }, ctx): Promise<DnsOutput> {
    const started = performance.now();
    const answer = await ctx.lookUp({ name, type, server });
    return {
      name,
      type: answer.type,
      found: answer.records.length > 0,
      records: answer.records.slice(0, MAX_RECORDS),
      reason: answer.reason,
      server: answer.server,
      query_time_ms: Math.round(performance.now() - started),
      truncated: answer.records.length > MAX_RECORDS,
    };
  },

  untrustedSource: (_args, { server }) => `dns:${server}`,

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: out.found
      ? columns(out.records.map(({ type, value, ttl }) => [type, value, ttl === undefined ? "" : `${ttl} s`]))
      : `${out.name} (${out.type}): ${out.reason ?? "nothing found"}`,
  }),

  examples: [
    {
      title: "Which names an address has",
      arguments: { name: "127.0.0.1" },
      result: { type: "PTR", found: true },
    },
  ],
});

/** In the form that the rules of the network are written for, whatever the port: private addresses are closed here too. */
function serverEffect(server: string): Effect {
  const host = /:.*:/.test(server)
    ? `[${server.replace(/^\[|\](?::\d+)?$/g, "")}]`
    : server.replace(/:\d+$/, "");
  return { action: "network:fetch", resource: `http://${host}/`, mode: "read" };
}
