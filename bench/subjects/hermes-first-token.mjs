// Our agent with a model behind HTTP that writes into each piece when it was sent; how late each piece comes out.
import { hermesAgents } from "../hermes-agents.mjs";

/** `dist`: the build to measure. `url`: the scripted model's server. */
export async function open({ dist, url }) {
  const agents = await hermesAgents({ dist });
  const agent = await agents.open({ client: agents.client({ url, script: "clock", key: "first-token" }) });
  const lateness = async () => {
    const late = [];
    for await (const event of agent.send("What time is it?"))
      if (event.type === "text") late.push(Number(process.hrtime.bigint() - BigInt(event.delta.trim())));
    if (late.length !== 8) throw new Error(`${late.length} pieces came out of 8`);
    return late;
  };
  return {
    operations: {
      /** Of one answer: nanoseconds from the server's write to our event. */
      first: async () => (await lateness())[0],
      slowest: async () => Math.max(...(await lateness())),
    },
    close: () => agents.close(),
  };
}
