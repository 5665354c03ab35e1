// Opening a page and reading it, against bare playwright-core with the same browser; and how many tokens a snapshot of a
// page with 5,000 elements takes while its first and last button can still be clicked.
import { once } from "node:events";
import { createServer } from "node:http";
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { ratios, summary } from "../statistics.mjs";

/** A page takes as long as many calls: rounds are longer, so that all sides take part in each. */
const PAGE_FACTOR = 5;
const PAGES = { "/": shop(), "/large": large() };

export async function measureBrowser({ dist, effort }) {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(PAGES[request.url] ?? "");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = `http://127.0.0.1:${server.address().port}`;
  try {
    return await withSubjects(async ({ startPeer }) => {
      const page = { url: `${base}/`, says: 'button "Buy 1"' };
      const bare = await startPeer("browser", page);
      // Without a browser there is nothing to compare.
      if (bare === undefined) return { milliseconds: {}, ratios: {}, tokens: {} };
      const tool = await startPeer("browser", { ...page, dist });
      if (tool === undefined) return { milliseconds: {}, ratios: {}, tokens: {} };
      const samples = await takeTurns(
        {
          "bare-open": { subject: bare, operation: "open" },
          "browser-open": { subject: tool, operation: "open" },
          "bare-snapshot": { subject: bare, operation: "again" },
          "browser-snapshot": { subject: tool, operation: "again" },
        },
        { ...effort, roundMs: effort.roundMs * PAGE_FACTOR },
      );
      const reader = await startPeer("browser", { url: `${base}/large`, says: 'button "Last"', dist });
      const tokens = await reader?.measure("tokens", 1);
      return {
        milliseconds: Object.fromEntries(
          Object.entries(samples).map(([id, values]) => [id, summary(values.map((value) => value / 1e6))]),
        ),
        ratios: {
          ...ratios(samples, "browser-open", ["bare-open"]),
          ...ratios(samples, "browser-snapshot", ["bare-snapshot"]),
        },
        tokens: { "page of 5,000 elements": tokens },
      };
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function shop() {
  const things = Array.from(
    { length: 60 },
    (_, n) =>
      `<li><h2><a href="/${n}">Thing ${n}</a></h2><p>What it is good for, in a sentence.</p><button>Buy ${n}</button></li>`,
  );
  return `<title>Shop</title><nav><a href="/a">Home</a><a href="/b">Cart</a></nav><ul>${things.join("")}</ul>`;
}

function large() {
  const rows = Array.from(
    { length: 1_000 },
    (_, n) =>
      `<div><p>Paragraph ${n} with some words about nothing much</p><span>and more</span><ul><li><a href="/${n}">Link ${n}</a></li></ul></div>`,
  );
  return `<title>Large</title><h1>Top</h1><button>First</button>${rows.join("")}<button>Last</button>`;
}
