import type { CommandContext } from "../context.js";
import { withConversation } from "./open.js";

/** Of a cluster, where one is configured: what only this machine forgot would come back from the others. */
export async function deleteSession(context: CommandContext): Promise<void> {
  const { cluster, sessions } = (await context.config()).values;
  if (cluster.url === "") return deleteIn(context);
  const [{ Bus }, { SharedLogs }, { createLogger }] = await Promise.all([
    import("../../cluster/bus.js"),
    import("../../cluster/shared-logs.js"),
    import("../../observe/log.js"),
  ]);
  const bus = await Bus.open(cluster, createLogger({ sink: (line) => context.out.note(line) }));
  try {
    const node = `sessions-${process.pid}`;
    const log = await SharedLogs.open(bus, { node, days: sessions.retention_days });
    await deleteIn({ ...context, log });
  } finally {
    await bus.close();
  }
}

function deleteIn(context: Parameters<typeof withConversation>[0]): Promise<void> {
  return withConversation(context, async (store, { id }) => {
    await store.delete(id);
    context.out.result({ deleted: true, id }, `Deleted ${id}.`);
  });
}
