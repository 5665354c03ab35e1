import { type Fields, fieldsOf, listOf, textOf } from "./references.js";

/** The address of the first server that has a whole one; undefined when the document does not tell any. */
export function serverUrl(servers: readonly unknown[], documentUrl: string | undefined): string | undefined {
  for (const server of servers) {
    const { url: template, variables } = fieldsOf(server);
    const url = textOf(template)?.replace(
      /\{([^{}]+)\}/g,
      (hole, name: string) => textOf(fieldsOf(fieldsOf(variables)[name]).default) ?? hole,
    );
    const address = url === undefined ? undefined : whole(url, documentUrl);
    if (address !== undefined) return address;
  }
  return undefined;
}

/** Version 2: scheme, host and path, each with a place of its own. */
export function hostUrl(document: Fields, documentUrl: string | undefined): string | undefined {
  const path = textOf(document.basePath) ?? "";
  const host = textOf(document.host);
  if (host === undefined) return documentUrl === undefined ? undefined : whole(path || "/", documentUrl);
  const schemes = listOf(document.schemes).map(String);
  const scheme = schemes.includes("https") || schemes.length === 0 ? "https" : schemes[0];
  return whole(`${scheme}://${host}${path}`, undefined);
}

function whole(url: string, base: string | undefined): string | undefined {
  if (/[{}]/.test(url) || !URL.canParse(url, base)) return undefined;
  const { protocol, href, search, hash } = new URL(url, base);
  // A path can only be put behind another path.
  const isBase = (protocol === "http:" || protocol === "https:") && search + hash === "";
  return isBase ? href.replace(/\/+$/, "") : undefined;
}
