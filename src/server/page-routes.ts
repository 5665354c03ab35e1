import { STEERING } from "../base/visible-text.js";
import { pageHtml } from "./page.js";
import { PAGE_SCRIPT, PAGE_STYLE } from "./page-files.gen.js";
import type { Route } from "./route.js";
import { HTML_TYPE } from "./sign-in.js";

const SHOWN_CALLS = 10;

export const pageRoute: Route = {
  method: "GET",
  path: "/",
  summary: "The page for people. With ?token= it sets the page's cookie and leads back to / without it.",
  query: [{ name: "token", description: "The server's token, once.", schema: { type: "string" } }],
  answer: { description: "Tools and the last calls.", type: "text/html" },

  async handle(_context, { runtime }) {
    const [tools, journal] = await Promise.all([runtime.listTools(), runtime.journal()]);
    const calls = await journal.recent({ limit: SHOWN_CALLS });
    return new Response(pageHtml({ tools, calls, journal: journal.enabled }), {
      headers: { "content-type": HTML_TYPE },
    });
  },
};

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#1b4fa0" d="M3 2h3v5h4V2h3v12h-3v-4H6v4H3z"/></svg>`;

function assetRoute(asset: { readonly path: string; readonly type: string; readonly text: string }): Route {
  return {
    method: "GET",
    path: asset.path,
    summary: "Part of the page.",
    answer: { description: "A file.", type: asset.type },
    handle: () => new Response(asset.text, { headers: { "content-type": `${asset.type}; charset=utf-8` } }),
  };
}

/** What the script must make visible is said in one place, here as everywhere. */
const PATTERN = `const STEERING_PATTERN = ${JSON.stringify(STEERING.source)};\n`;

export const pageAssetRoutes: readonly Route[] = [
  assetRoute({ path: "/page.css", type: "text/css", text: PAGE_STYLE }),
  assetRoute({ path: "/page.js", type: "text/javascript", text: PATTERN + PAGE_SCRIPT }),
  assetRoute({ path: "/page-icon.svg", type: "image/svg+xml", text: ICON }),
];
