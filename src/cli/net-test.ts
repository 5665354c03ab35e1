import { judgeJourney } from "../net/url-journey.js";
import type { CommandContext } from "./context.js";
import { answerLines } from "./input.js";

/** `{"url": …, "dns"?: […], "redirects"?: […]}` per line → `{"verdict": "allow" | "block", "reason": …}`. */
export async function netTest({ config }: CommandContext): Promise<void> {
  const { security } = (await config()).values;
  const rules = {
    allowPrivate: security.allow_private_urls,
    privateHosts: security.allowed_hosts,
    onlyHosts: security.url_allowlist,
    blockedHosts: security.website_blocklist,
  };
  await answerLines({
    answer: (line) => judgeJourney(line, rules),
    failed: (why) => ({ verdict: "block", reason: why }),
  });
}
