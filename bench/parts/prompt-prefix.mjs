// Fifty turns of a conversation with the built-in tools, as the model's server counts them: a server with a prompt cache
// reads anew what the request before did not begin with.
import { withSubjects } from "../coordinate.mjs";
import { startScriptedModel } from "../scripted-model.mjs";
import { significant } from "../statistics.mjs";

/** Four requests each. */
const MESSAGES = 13;

export async function measurePromptPrefix({ dist }) {
  const model = await startScriptedModel();
  try {
    return await withSubjects(async ({ start }) => {
      const subject = await start("hermes-work", { dist, url: model.url, messages: MESSAGES });
      await subject.measure("atOnce", 1);
      const { requests, extended, sent, anew, last } = await model.account("work-0");
      // When every request begins with all bytes of the one before, each byte of the last one was new once.
      const ratio = anew / last;
      return {
        requests,
        extended,
        bytes: { sent, anew, last },
        cacheHits: significant(1 - anew / sent),
        ratios: { "anew / last prompt": { paired: ratio, best: ratio } },
      };
    });
  } finally {
    await model.stop();
  }
}
