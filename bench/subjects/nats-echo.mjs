// Answers requests over NATS with what they bring, in a process of its own.
import { connect } from "@nats-io/transport-node";

export async function open({ server }) {
  const connection = await connect({ servers: server });
  connection.subscribe("echo", { callback: (_error, message) => message.respond(message.data) });
  await connection.flush();
  return { operations: {}, close: () => connection.close() };
}
