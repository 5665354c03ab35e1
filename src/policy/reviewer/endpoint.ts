/** Where to post: a base address with or without its version, or the whole address. Undefined if it is no web address. */
export function completionsUrl(configured: string): string | undefined {
  if (!URL.canParse(configured)) return undefined;
  const url = new URL(configured);
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  const path = url.pathname.replace(/\/+$/, "");
  if (!path.endsWith("/chat/completions")) {
    const versioned = /\/v\d+\w*(?:\/|$)/.test(path) ? path : `${path}/v1`;
    url.pathname = `${versioned}/chat/completions`;
  }
  url.hash = "";
  return url.href;
}
