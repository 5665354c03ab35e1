// The limit: one request and its reply over NATS, with nothing of ours.
import { connect } from "@nats-io/transport-node";
import { echoArguments } from "../echo.mjs";
import { oneByOne } from "../operations.mjs";

export async function open({ server }) {
  const connection = await connect({ servers: server });
  const request = (number) => connection.request("echo", JSON.stringify(echoArguments(number)));
  return { operations: { oneByOne: oneByOne(request) }, close: () => connection.close() };
}
