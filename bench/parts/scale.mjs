// What happens when there are many tools: calls, definitions, registering.
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

/** Of the peers only these two know all tools when one is called. */
const GROWING = ["mcp", "ai-sdk"];
const LISTING = ["openai-agents", "langchain", "mcp"];

export function measureScale({ dist, peers, effort }) {
  const fewest = effort.sizes[0];
  const most = effort.sizes.at(-1);
  return withSubjects(async ({ start, startPeer }) => {
    const calls = {};
    const definitions = {};
    for (const tools of effort.sizes) {
      const subject = await start("hermes", { dist, tools });
      calls[`hermes-${tools}`] = { subject, operation: "oneByOne" };
      definitions[`remembered-${tools}`] = { subject, operation: "definitionsRemembered" };
      definitions[`rebuilt-${tools}`] = { subject, operation: "definitionsRebuilt" };
      definitions[`rebuilt-as-text-${tools}`] = { subject, operation: "definitionsRebuiltAsText" };
      definitions[`stringify-${tools}`] = { subject, operation: "definitionsStringify" };
      if (tools === most) definitions[`register-${tools}`] = { subject, operation: "register" };
    }
    for (const peer of peers) {
      if (GROWING.includes(peer)) {
        const subject = await startPeer(peer, { tools: fewest });
        if (subject !== undefined) calls[`${peer}-${fewest}`] = { subject, operation: "oneByOne" };
      }
      const subject = await startPeer(peer, { tools: most });
      if (subject === undefined) continue;
      if (GROWING.includes(peer)) calls[`${peer}-${most}`] = { subject, operation: "oneByOne" };
      if (LISTING.includes(peer)) definitions[`${peer}-list-${most}`] = { subject, operation: "list" };
    }
    const samples = { ...(await takeTurns(calls, effort)), ...(await takeTurns(definitions, effort)) };
    return {
      fewest,
      most,
      microseconds: inMicroseconds(samples),
      ratios: {
        ...ratios(samples, `hermes-${most}`, [`hermes-${fewest}`]),
        ...ratios(samples, `rebuilt-${most}`, [`stringify-${most}`]),
        ...ratios(samples, `rebuilt-as-text-${most}`, [
          `stringify-${most}`,
          ...LISTING.map((peer) => `${peer}-list-${most}`),
        ]),
      },
    };
  });
}
