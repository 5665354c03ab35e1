// O4: a hundred questions wait at once; four connections answer them in random order, some twice, some with the hash of
// another. Each command leaves its own number behind, so an answer that reached another call is seen.
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { Agent } from "node:http";
import { join } from "node:path";
import { ask, post } from "../serve.mjs";
import { withMeasuredServer } from "./measured-server.mjs";

const CALLS = 100;
const DOORS = 4;
const CONFIG = "approvals:\n  unattended_mode: queue\n  timeout: 60\n";

export async function measureApprovals({ dist, calls = CALLS }) {
  const measured = await withMeasuredServer({ dist, config: CONFIG }, async ({ server, home }) => {
    const cwd = join(home, "work");
    const folders = Array.from({ length: calls }, (_, index) => join(cwd, `t${index}`));
    for (const folder of folders) {
      await mkdir(folder);
      await writeFile(join(folder, "kept"), "");
    }
    const wanted = (index) => index % 3 !== 0;
    const results = folders.map((folder, index) =>
      post({
        server,
        session: `asks-${index}`,
        call: { name: "terminal", arguments: { command: `rm -rf ${folder}` } },
      }).then(
        () => true,
        () => false,
      ),
    );
    const questions = await waiting(server, calls);
    const agents = Array.from({ length: DOORS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const answers = questions.flatMap(({ id, hash, what }, at) => {
      const index = Number(/\/t(\d+)\b/.exec(what)?.[1]);
      const answer = wanted(index) ? "once" : "deny";
      const wrong = questions[(at + 1) % questions.length].hash;
      return [
        { id, hash, answer, good: true },
        { id, hash, answer: "once", good: false, second: true },
        { id, hash: wrong, answer: "once", good: false },
      ];
    });
    let accepted = 0;
    let wrongly = 0;
    // A second answer is one only when the first has been given.
    const shuffled = answers
      .map((answer) => ({ answer, order: Math.random() + (answer.second ? 1 : 0) }))
      .sort((a, b) => a.order - b.order);
    for (const round of [
      shuffled.filter(({ order }) => order < 1),
      shuffled.filter(({ order }) => order >= 1),
    ]) {
      await Promise.all(
        round.map(async ({ answer: { id, hash, answer, good } }, at) => {
          const door = { ...server, agent: agents[at % DOORS] };
          const body = JSON.stringify({ id, hash, answer });
          const { status } = await ask({ server: door, method: "POST", path: "/v1/approvals", body });
          if (good && status === 200) accepted += 1;
          if (!good && status === 200) wrongly += 1;
        }),
      );
    }
    const ran = await Promise.all(results);
    for (const agent of agents) agent.destroy();
    const wrong = folders.filter(
      (folder, index) => existsSync(folder) === wanted(index) || ran[index] !== wanted(index),
    );
    return { accepted, wrongly, wrong: wrong.length, left: (await readdir(cwd)).length };
  });
  const { accepted, wrongly, wrong, samples } = measured;
  return {
    samples,
    note: `${calls} questions waited at once, ${calls * 3} answers over ${DOORS} connections`,
    figures: [
      { what: "answers that did not reach their own call", value: wrong, limit: 0, unit: "" },
      { what: "proper answers that were refused", value: calls - accepted, limit: 0, unit: "" },
      { what: "second or mismatched answers that were taken", value: wrongly, limit: 0, unit: "" },
    ],
  };
}

async function waiting(server, count) {
  const patience = performance.now() + 30_000;
  for (;;) {
    const { text } = await ask({ server, path: "/v1/approvals" });
    const { approvals } = JSON.parse(text);
    if (approvals.length === count) return approvals;
    if (performance.now() > patience) throw new Error(`${approvals.length} of ${count} questions wait`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
