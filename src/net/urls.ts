import { judgeAddress } from "./addresses.js";
import { hostMatches, hostOf } from "./hosts.js";

/** Every address of a host name, as text. Throws, or gives none, when the name does not resolve. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** What the operator says about the network. A host is a name with everything below it, or a pattern with `*`. */
export interface NetworkRules {
  /** Opens private networks and this machine; cloud metadata stays closed. */
  readonly allowPrivate: boolean;
  /** Hosts that may lie in a private network (`security.allowed_hosts`). */
  readonly privateHosts?: readonly string[] | undefined;
  /** When not empty, nothing else is reached (`security.url_allowlist`). */
  readonly onlyHosts?: readonly string[] | undefined;
  /** Hosts that are closed (`security.website_blocklist`); they stay closed whatever else is open. */
  readonly blockedHosts?: readonly string[] | undefined;
  /** Address of a proxy that requests go through (`network.proxy`); empty or absent: none. */
  readonly proxy?: string | undefined;
  /** Hosts that are reached without it (`network.no_proxy`). */
  readonly noProxy?: readonly string[] | undefined;
}

/** The proxy that this host is reached through, if any. What runs on this machine is not beyond one. */
export function proxyFor(host: string, { proxy, noProxy }: NetworkRules): string | undefined {
  if (proxy === undefined || /^(?:localhost|127\.[\d.]+|::1)$/.test(host)) return undefined;
  // `.example.com`, as NO_PROXY is often written.
  return isListed(
    host,
    noProxy?.map((pattern) => pattern.trim().replace(/^\./, "")),
  ) === true
    ? undefined
    : proxy;
}

export interface UrlRules extends NetworkRules {
  readonly resolve: ResolveHost;
}

export type UrlVerdict =
  | {
      readonly verdict: "allow";
      readonly url: URL;
      /** The only addresses that may be dialled for this URL. */
      readonly addresses: readonly string[];
    }
  | {
      readonly verdict: "block";
      readonly reason: string;
      /** True when nothing forbids it, but its name leads nowhere. */
      readonly unresolved?: true;
    };

const METADATA_HOSTS = new Set(
  (
    "metadata metadata.google.internal metadata.goog metadata.azure.internal metadata.azure.com " +
    "metadata.tencentyun.com metadata.packet.net metadata.platformequinix.com instance-data " +
    "instance-data.ec2.internal"
  ).split(" "),
);
const LOCAL_HOST = /(?:^|\.)localhost$|^localhost\.localdomain$|^(?:ip6-)?(?:localhost|loopback)$/;

/** Ports the Fetch standard refuses: a request could be read as a message of another protocol. */
const BAD_PORTS = new Set(
  (
    "0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 " +
    "117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 " +
    "587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 " +
    "6668 6669 6679 6697 10080"
  ).split(" "),
);

/**
 * Decides whether a URL may be fetched, and which addresses may be dialled for it. Judges what the WHATWG
 * parser makes of the text, since that is what is dialled, and refuses texts on which parsers are known to
 * disagree. A name is blocked as soon as one of its addresses is forbidden.
 */
export async function judgeUrl(text: string, rules: UrlRules): Promise<UrlVerdict> {
  const parsed = parseWebUrl(text);
  if (typeof parsed === "string") return block(parsed);
  const host = hostOf(parsed);
  const closed = refusalOfHost(host, rules);
  if (closed !== undefined) return block(closed);
  const mayBePrivate = opensPrivate(host, rules);
  const addresses = await addressesOf(parsed, rules.resolve);
  if (typeof addresses === "string") {
    // Behind a proxy, names of the outside often mean nothing to this machine: the proxy looks them up.
    if (proxyFor(host, rules) !== undefined) return { verdict: "allow", url: parsed, addresses: [] };
    return { verdict: "block", reason: addresses, unresolved: true };
  }
  for (const address of addresses) {
    const forbidden = judgeAddress(address);
    if (forbidden !== undefined && !(forbidden.level === "private" && mayBePrivate)) {
      return block(host === address ? forbidden.reason : `${host} leads to ${forbidden.reason}`);
    }
  }
  return { verdict: "allow", url: parsed, addresses };
}

/** Why a URL is refused before any name is looked up; undefined when that decides. */
export function refusalOf(text: string, rules: NetworkRules): string | undefined {
  const parsed = parseWebUrl(text);
  if (typeof parsed === "string") return parsed;
  const host = hostOf(parsed);
  const closed = refusalOfHost(host, rules);
  if (closed !== undefined || !isAddress(parsed)) return closed;
  const forbidden = judgeAddress(host);
  if (forbidden === undefined || (forbidden.level === "private" && opensPrivate(host, rules)))
    return undefined;
  return forbidden.level === "private" ? `${forbidden.reason}; ${OPENS}` : forbidden.reason;
}

const OPENS = "the operator can open it with security.allowed_hosts";

function refusalOfHost(host: string, rules: NetworkRules): string | undefined {
  if (METADATA_HOSTS.has(host)) return `${host} serves cloud credentials`;
  const rule = (rules.blockedHosts ?? []).find((pattern) => hostMatches(host, pattern));
  if (rule !== undefined) return `${host} is closed by ${JSON.stringify(rule)} in security.website_blocklist`;
  if (isListed(host, rules.onlyHosts) === false)
    return `${host} is not among the hosts of security.url_allowlist`;
  return LOCAL_HOST.test(host) && !opensPrivate(host, rules)
    ? `${host} is this machine; ${OPENS}`
    : undefined;
}

/** The parser has turned every spelling of an IPv4 address into four decimal numbers. */
function isAddress(url: URL): boolean {
  return url.hostname.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(hostOf(url));
}

/** Whether this host may have an address in a private network. */
export function opensPrivate(host: string, rules: NetworkRules): boolean {
  return rules.allowPrivate || isListed(host, rules.privateHosts) === true;
}

/** The rules for a host that the operator has named: it may lie in a private network, and lists do not close it. */
export function openedFor(host: string, rules: NetworkRules): NetworkRules {
  return { ...rules, privateHosts: [...(rules.privateHosts ?? []), host], onlyHosts: [] };
}

/** Undefined when there is no list. */
function isListed(host: string, patterns: readonly string[] | undefined): boolean | undefined {
  if (patterns === undefined || patterns.length === 0) return undefined;
  return patterns.some((pattern) => hostMatches(host, pattern));
}

/** The parsed URL, or why it is refused. */
function parseWebUrl(given: string): URL | string {
  const text = given.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  if (/[\u0000-\u001f\u007f]/.test(text)) return "the URL holds control characters";
  const beginning = /^(https?):\/\/([^/?#]*)/i.exec(text);
  if (beginning === null) return "only URLs that begin with http:// or https:// are fetched";
  const authority = beginning[2] ?? "";
  if (/^[^?#]*\\/.test(text)) return "the URL holds a backslash, which programs read in different ways";
  if (authority.includes("@")) return "the URL holds a user name or password";
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return "it is not a valid URL";
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return `the scheme ${url.protocol} is not fetched`;
  if (url.username !== "" || url.password !== "") return "the URL holds a user name or password";
  if (BAD_PORTS.has(url.port)) return `port ${url.port} belongs to another protocol`;
  if (hostOf(url) === "" || url.hostname.length > 255) return "it is not a valid URL: the host is unusable";
  return url;
}

async function addressesOf(url: URL, resolve: ResolveHost): Promise<readonly string[] | string> {
  const host = hostOf(url);
  if (isAddress(url)) return [host];
  try {
    const addresses = await resolve(host);
    return addresses.length > 0 ? addresses : `the name ${host} has no address`;
  } catch {
    return `the name ${host} could not be resolved`;
  }
}

function block(reason: string): UrlVerdict {
  return { verdict: "block", reason };
}
