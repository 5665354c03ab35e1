import { visibleLines } from "../base/visible-text.js";
import type { Problem } from "./problem.js";
import type { Route } from "./route.js";
import { SIGN_IN_STYLE } from "./sign-in-style.gen.js";

export const HTML_TYPE = "text/html; charset=utf-8";

/** What a browser without the cookie is shown, and what it is shown in place of an error in JSON. Nothing of the page. */
export function problemHtml(problem: Problem): string {
  const asksForToken = problem.status === 401;
  const title = asksForToken ? "Token needed" : problem.message;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/sign-in.css">
</head>
<body>
<main>
<h1>${escapeHtml(asksForToken ? title : `Error ${problem.status}`)}</h1>
<p>${escapeHtml(problem.message)}</p>
${asksForToken ? TOKEN_FORM : `<p>${escapeHtml(problem.hint ?? "")}</p>`}
<form action="/" method="get"><p><button class="plain" type="submit">To the page</button></p></form>
</main>
</body>
</html>
`;
}

/** Sent as a query, which is traded for a cookie at once and leaves the address bar. */
const TOKEN_FORM = `<p>Open the address that <code>hermes serve</code> printed, or give the token here.</p>
<form action="/" method="get">
<p><label>Token <input name="token" type="password" autocomplete="off" required></label></p>
<p><button type="submit">Open</button></p>
</form>
<p>A browser that has been let in before may need one more step when it comes from another page:</p>`;

const NAMED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Safe between tags and inside quoted attributes. */
export function escapeHtml(text: string): string {
  return visibleLines(text).replace(/[&<>"'`]/g, (sign) => NAMED[sign] ?? sign);
}

/** Open: whoever is asked for the token does not have it yet. */
export const signInStyleRoute: Route = {
  method: "GET",
  path: "/sign-in.css",
  open: true,
  summary: "How the form for the token looks.",
  answer: { description: "A file.", type: "text/css" },
  handle: () => new Response(SIGN_IN_STYLE, { headers: { "content-type": "text/css; charset=utf-8" } }),
};
