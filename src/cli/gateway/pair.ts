import { hermesPaths } from "../../config/paths.js";
import { openGatewayStore } from "../../gateway/gateway-store.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { assertPerson } from "../person.js";

/** Lets somebody in. A running gateway knows it at their next message. */
export async function pair({ args, options, out, home }: CommandContext): Promise<void> {
  assertPerson("Who may talk to the agent is decided by a person");
  const [code = ""] = args;
  const store = await openGatewayStore(hermesPaths(home).gatewaysDb);
  try {
    const paired = await store.write(() =>
      store.people.pair(code, options.guest === true ? "guest" : "owner"),
    );
    if (paired === undefined) {
      const hint = "A code is good for an hour and counts once: let them write again for a new one.";
      throw commandError("not_found", `There is no pairing code ${JSON.stringify(code)}`, hint);
    }
    const { gateway, person, role } = paired;
    out.result(
      { ok: true, gateway, id: person.id, name: person.name, role },
      `${person.name} (${person.id}) may talk to the agent on ${gateway} as ${role}.`,
    );
  } finally {
    await store.close();
  }
}
