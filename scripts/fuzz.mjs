// npm run fuzz: mutated input against everything that reads text from outside (test/fuzz).
//   --minutes N   the most time each kind of input gets (5)
//   --seed N      other mutations; the failing input is printed with its seed
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureReady, root, runToEnd } from "./ensure.mjs";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "5" }, seed: { type: "string", default: "20261118" } },
});
await ensureReady({ types: false });
process.exitCode = await runToEnd(
  process.execPath,
  [join(root, "node_modules", "vitest", "vitest.mjs"), "run", "test/fuzz"],
  {
    env: {
      ...process.env,
      HERMES_FUZZ: "full",
      HERMES_FUZZ_MINUTES: values.minutes,
      HERMES_FUZZ_SEED: values.seed,
    },
  },
);
