import { type Fields, fieldsOf, listOf, textOf } from "./references.js";

/** The address of the first server, whole; undefined when the document does not tell one. */
export function serverUrl(servers: readonly unknown[], documentUrl: string | undefined): string | undefined {
  const server = fieldsOf(servers[0]);
  const variables = fieldsOf(server.variables);
  const url = textOf(server.url)?.replace(
    /\{([^{}]+)\}/g,
    (hole, name: string) => textOf(fieldsOf(variables[name]).default) ?? hole,
  );
  return url === undefined ? undefined : whole(url, documentUrl);
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
  const { protocol, href } = new URL(url, base);
  return protocol === "http:" || protocol === "https:" ? href.replace(/\/+$/, "") : undefined;
}
