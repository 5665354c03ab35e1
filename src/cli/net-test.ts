import { loadConfig } from "../config/load.js";
import { judgeJourney } from "../net/url-journey.js";
import type { CommandContext } from "./globals.js";
import { answerLines } from "./json-lines.js";

/** `{"url": …, "dns"?: […], "redirects"?: […]}` per line → `{"verdict": "allow" | "block", "reason": …}`. */
export async function run({ home, configFlags }: CommandContext): Promise<void> {
  const config = await loadConfig({ home, cwd: process.cwd(), env: process.env, flags: configFlags });
  const { security } = config.values;
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
