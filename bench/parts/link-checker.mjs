// 1,000 links of a site on this machine, its pages followed: link_checker against linkinator, both 20 at once.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { cleanEnvironment, takeTurns, withSubjects } from "../coordinate.mjs";
import { ratios, summary } from "../statistics.mjs";

const SITE = fileURLToPath(new URL("../servers/site.mjs", import.meta.url));
const PAGES = 40;
const LINKS_PER_PAGE = 24;
const AT_ONCE = 20;

export async function measureLinkChecker({ dist, effort, withPeers }) {
  const site = fork(SITE, [String(PAGES), String(LINKS_PER_PAGE)], { env: cleanEnvironment() });
  try {
    const [{ port }] = await once(site, "message");
    const options = {
      url: `http://127.0.0.1:${port}/`,
      atOnce: AT_ONCE,
      expected: 1 + PAGES + PAGES * LINKS_PER_PAGE,
    };
    return await withSubjects(async ({ start, startPeer }) => {
      const tool = await start("link-checker", { ...options, dist });
      const peer = withPeers ? await startPeer("linkinator", options) : undefined;
      const samples = await takeTurns(
        {
          ...(peer && { linkinator: { subject: peer, operation: "site" } }),
          link_checker: { subject: tool, operation: "site" },
        },
        effort,
      );
      return {
        milliseconds: Object.fromEntries(
          Object.entries(samples).map(([id, values]) => [id, summary(values.map((value) => value / 1e6))]),
        ),
        ratios: ratios(samples, "link_checker", ["linkinator"]),
      };
    });
  } finally {
    if (site.exitCode === null && site.signalCode === null) {
      const ended = once(site, "exit");
      if (site.connected) site.disconnect();
      await ended;
    }
  }
}
