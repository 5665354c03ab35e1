// link_checker over a whole site, as a session calls it.
import { oneByOne } from "../operations.mjs";
import { openSession } from "./session.mjs";

export async function open({ url, atOnce, expected, dist }) {
  const { call, close } = await openSession({ dist });
  return {
    operations: {
      site: oneByOne(async () => {
        const { structured } = await call("link_checker", { url, recurse: true, concurrency: atOnce });
        if (!structured.passed || structured.checked !== expected)
          throw new Error(`link_checker: ${JSON.stringify(structured).slice(0, 800)}`);
      }),
    },
    close,
  };
}
