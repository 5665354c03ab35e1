import ipaddr from "ipaddr.js";

/** Why an address must not be dialled; `private` may be opened by the operator, `never` may not. */
export interface Forbidden {
  readonly level: "private" | "never";
  readonly reason: string;
}

/**
 * Places that hand out credentials of the machine or its cloud account. They stay closed even when private
 * addresses are open.
 */
const METADATA_RANGES = [
  ipaddr.parseCIDR("169.254.0.0/16"),
  ipaddr.parseCIDR("100.100.100.200/32"),
  ipaddr.parseCIDR("168.63.129.16/32"),
  ipaddr.parseCIDR("192.0.0.192/32"),
  ipaddr.parseCIDR("fd00:ec2::254/128"),
  ipaddr.parseCIDR("fd20:ce::254/128"),
  ipaddr.parseCIDR("fd00:42::42/128"),
  ipaddr.parseCIDR("fe80::a9fe:a9fe/128"),
];

const PRIVATE_RANGES: Readonly<Record<string, string>> = {
  loopback: "this machine (loopback)",
  private: "a private network",
  carrierGradeNat: "a carrier-grade NAT network",
  uniqueLocal: "a private network",
  linkLocal: "the local link",
  deprecatedSiteLocal: "a private network",
};

const GLOBAL_IPV6 = ipaddr.parseCIDR("2000::/3");
const IPV4_COMPATIBLE = ipaddr.parseCIDR("::/96");
const WELL_KNOWN_NAT64 = ipaddr.parseCIDR("64:ff9b::/96");
/** Global by number, yet never a public web server: protocol assignments, documentation, segment routing. */
const SPECIAL_IPV6 = ["2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16"].map((text) =>
  ipaddr.parseCIDR(text),
);

/** `undefined` when the address is a public one. Text that is no address is forbidden. */
export function judgeAddress(text: string): Forbidden | undefined {
  let address: ipaddr.IPv4 | ipaddr.IPv6;
  try {
    // A zone ("fe80::1%eth0") is only meaningful on this machine's links; judge the address without it.
    address = ipaddr.parse(text.replace(/%.*$/, ""));
  } catch {
    return { level: "never", reason: `${JSON.stringify(text)} is not an address` };
  }
  return judgeParsed(address);
}

function judgeParsed(address: ipaddr.IPv4 | ipaddr.IPv6): Forbidden | undefined {
  if (matchesAny(address, METADATA_RANGES)) {
    return { level: "never", reason: `${address} is a cloud metadata or link-local address` };
  }
  const embedded = embeddedIpv4(address);
  if (embedded !== undefined) {
    const inner = judgeParsed(embedded);
    return inner && { ...inner, reason: `${address} stands for ${embedded}: ${inner.reason}` };
  }
  const range = address.range();
  const named = PRIVATE_RANGES[range];
  if (named !== undefined) return { level: "private", reason: `${address} belongs to ${named}` };
  if (isBenchmarking(address)) return { level: "private", reason: `${address} belongs to a test network` };
  const isPublic =
    range === "unicast" &&
    (address.kind() === "ipv4" || (matchesAny(address, [GLOBAL_IPV6]) && !matchesAny(address, SPECIAL_IPV6)));
  if (isPublic) return undefined;
  return { level: "never", reason: `${address} is not a public address (${describe(address, range)})` };
}

/** The IPv4 address that a translating IPv6 address leads to, where the translation is certain. */
function embeddedIpv4(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | undefined {
  if (!(address instanceof ipaddr.IPv6)) return undefined;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (matchesAny(address, [WELL_KNOWN_NAT64])) return new ipaddr.IPv4(address.toByteArray().slice(12));
  return undefined;
}

function isBenchmarking(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return matchesAny(address, [ipaddr.parseCIDR("198.18.0.0/15")]);
}

function describe(address: ipaddr.IPv4 | ipaddr.IPv6, range: string): string {
  if (range === "unicast") {
    return matchesAny(address, [IPV4_COMPATIBLE]) ? "obsolete IPv4-compatible form" : "special use";
  }
  return range;
}

function matchesAny(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  ranges: readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[],
): boolean {
  return ranges.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network as never, bits),
  );
}
