// Statistics over a journal of a million calls, once they are counted.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fillJournal } from "../million-calls.mjs";
import { single, summary } from "../statistics.mjs";

export async function measureStats({ dist, effort }) {
  const home = await mkdtemp(join(tmpdir(), "hermes-bench-stats-"));
  try {
    const calls = Math.max(...effort.sizes) * 100;
    await fillJournal({ dist, home, calls });
    const { createRuntime } = await import(pathToFileURL(join(dist, "index.js")).href);
    const options = { home, cwd: home, systemDir: join(home, "system"), builtins: false, userTools: false };
    const runtime = await createRuntime(options);
    const journal = await runtime.journal();
    const ask = async () => {
      const asked = performance.now();
      const { total } = await journal.stats({ sinceMs: 0, by: "model", series: true });
      if (total.calls !== calls) throw new Error(`${total.calls} of ${calls} calls were counted`);
      return performance.now() - asked;
    };
    const first = await ask();
    const taken = [];
    for (let round = 0; round < effort.rounds; round += 1) taken.push(await ask());
    await runtime.close();
    return { milliseconds: { [`stats-${calls}`]: summary(taken), [`stats-first-${calls}`]: single(first) } };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
