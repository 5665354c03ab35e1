// What an agent loop adds to the model and the handlers: a conversation of ten messages, thirty requests and thirty calls,
// with a model in the same process that answers at once and handlers that do nothing. A turn is one request with its calls.
import { TURNS } from "../agent-script.mjs";
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

const PEER_LOOPS = { "openai-agents": "openai-agents-loop", langchain: "langchain-loop" };

export function measureAgentLoop({ dist, withPeers, effort }) {
  return withSubjects(async ({ start, startPeer }) => {
    const contestants = {
      "hermes-agent": { subject: await start("hermes-loop", { dist }), operation: "streamed" },
      "hermes-agent-memory": {
        subject: await start("hermes-loop", { dist, journal: false }),
        operation: "streamed",
      },
    };
    for (const [peer, name] of Object.entries(withPeers ? PEER_LOOPS : {})) {
      const subject = await startPeer(name);
      if (subject === undefined) continue;
      // They can also give everything at the end; whichever is quicker is what we are held against.
      contestants[`${peer}-agent`] = { subject, operation: "whole" };
      contestants[`${peer}-agent-streamed`] = { subject, operation: "streamed" };
    }
    const conversations = await takeTurns(contestants, effort);
    const samples = Object.fromEntries(
      Object.entries(conversations).map(([id, taken]) => [id, taken.map((time) => time / TURNS)]),
    );
    const peers = Object.keys(samples).filter((id) => !id.startsWith("hermes"));
    return {
      microseconds: inMicroseconds(samples),
      ratios: {
        ...ratios(samples, "hermes-agent", [...peers, "hermes-agent-memory"]),
        ...ratios(samples, "hermes-agent-memory", peers),
      },
    };
  });
}
