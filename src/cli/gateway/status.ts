import { existsSync } from "node:fs";
import { ageText } from "../../base/human.js";
import { hermesPaths } from "../../config/paths.js";
import { openGatewayStore } from "../../gateway/gateway-store.js";
import type { CommandContext } from "../context.js";

/** Read from disk: it also tells of gateways that another process runs. */
export async function status({ out, home }: CommandContext): Promise<void> {
  const { gatewaysDb } = hermesPaths(home);
  if (!existsSync(gatewaysDb)) {
    if (out.json) out.value({ gateways: [], people: [] });
    else out.line("No gateway has run yet. Start it: hermes gateway run");
    return;
  }
  const store = await openGatewayStore(gatewaysDb);
  try {
    const gateways = store.health.list().map((health) => {
      const { waiting: unsent, failed } = store.outbox.counts(health.gateway);
      return {
        name: health.gateway,
        state: health.state,
        since: new Date(health.since).toISOString(),
        last_received_at:
          health.lastReceivedAt === undefined ? null : new Date(health.lastReceivedAt).toISOString(),
        restarts: health.restarts,
        error: health.error ?? null,
        unanswered: store.inbox.waiting(health.gateway),
        unsent,
        failed,
      };
    });
    const people = store.people
      .list()
      .map(({ gateway, person, role }) => ({ gateway, id: person.id, name: person.name, role }));
    if (out.json) return out.value({ gateways, people });
    out.table(
      gateways.map((row) => [
        row.name,
        row.state,
        row.last_received_at === null
          ? "heard nothing"
          : `heard ${ageText(Date.now() - Date.parse(row.last_received_at))} ago`,
        `${row.unanswered} to answer, ${row.unsent} to send${row.failed > 0 ? `, ${row.failed} not delivered` : ""}`,
        row.error ?? "",
      ]),
    );
    for (const { gateway, id, name, role } of people) out.line(`${gateway}: ${name} (${id}) is ${role}`);
  } finally {
    await store.close();
  }
}
