import { domainToASCII } from "node:url";
import { wildcardMatches } from "../base/wildcard.js";

/** `example.com` means that name and all below it, `*.example.com` only those below, `*` stands for anything. */
export function hostMatches(host: string, pattern: string): boolean {
  const wanted = asDialled(pattern);
  if (wanted === "") return false;
  if (!wanted.includes("*")) return host === wanted || host.endsWith(`.${wanted}`);
  return wildcardMatches(wanted, host);
}

/** A pattern as people write it (`HTTPS://Bücher.example/`) in the spelling that hosts are compared in. */
function asDialled(pattern: string): string {
  const bare = pattern
    .trim()
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, "")
    .replace(/[/?#].*$/, "");
  if (bare.includes("*")) return labelsAsDialled(bare.replace(/:\d*$/, "").replace(/\.$/, ""));
  const url = URL.canParse(`http://${bare}`) ? new URL(`http://${bare}`) : undefined;
  return url === undefined ? bare : hostOf(url);
}

/** No parser takes a name with `*` in it, so each label is spelled for itself. */
function labelsAsDialled(name: string): string {
  return name
    .split(".")
    .map((label) => (label.includes("*") ? label : domainToASCII(label) || label))
    .join(".");
}

/** Host name as it is dialled: lower case, no brackets, no final dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
