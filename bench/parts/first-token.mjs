// From the moment a model's server writes a piece of its answer to the moment our agent's event is in the hands of whoever
// reads it: over HTTP, in two processes.
import { withSubjects } from "../coordinate.mjs";
import { startScriptedModel } from "../scripted-model.mjs";
import { percentile, single, summary } from "../statistics.mjs";

const ANSWERS_PER_ROUND = 12;
/** Until code is compiled. */
const WARM = 10;

export async function measureFirstToken({ dist, effort }) {
  const model = await startScriptedModel();
  try {
    return await withSubjects(async ({ start }) => {
      const subject = await start("hermes-first-token", { dist, url: model.url });
      const samples = { first: [], slowest: [] };
      const answers = effort.rounds * ANSWERS_PER_ROUND;
      for (let answer = -WARM; answer < answers; answer += 1)
        for (const operation of Object.keys(samples)) {
          const late = (await subject.measure(operation, 1)) / 1e6;
          if (answer >= 0) samples[operation].push(late);
        }
      return {
        answers,
        milliseconds: {
          "first-token": summary(samples.first),
          "first-token-p95": single(percentile(samples.first, 0.95)),
          "slowest-token": summary(samples.slowest),
          "slowest-token-p95": single(percentile(samples.slowest, 0.95)),
        },
      };
    });
  } finally {
    await model.stop();
  }
}
