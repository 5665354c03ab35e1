/** Under which names this server may be addressed. Anything else is a web page that rebound its own name. */
export interface HostRules {
  /** `name:port`, lower case, reached over plain HTTP. */
  readonly own: ReadonlySet<string>;
  /** Names given by the operator; a proxy may serve them over HTTPS. */
  readonly configured: ReadonlySet<string>;
  /** Set when every address of the machine is served: then the one a connection came in on is a name too. */
  readonly anyAddressAtPort?: number | undefined;
}

export function hostRules(options: {
  readonly address: string;
  readonly host: string;
  readonly port: number;
  readonly allowedHosts?: readonly string[] | undefined;
}): HostRules {
  const { address, host, port } = options;
  const isWildcard = address === "0.0.0.0" || address === "::";
  const names = [
    "127.0.0.1",
    "localhost",
    "[::1]",
    ...(isWildcard ? [] : [bracketed(address), bracketed(host)]),
  ];
  const configured = (options.allowedHosts ?? []).map((name) => name.trim().toLowerCase()).filter(Boolean);
  return {
    own: new Set(names.flatMap((name) => withPort(name.toLowerCase(), port))),
    configured: new Set(configured.flatMap((name) => (hasPort(name) ? [name] : [name, `${name}:${port}`]))),
    anyAddressAtPort: isWildcard ? port : undefined,
  };
}

export function isAllowedHost(
  rules: HostRules,
  { host, localAddress }: { readonly host: string | undefined; readonly localAddress: string | undefined },
): boolean {
  if (host === undefined) return false;
  const name = host.toLowerCase();
  if (rules.own.has(name) || rules.configured.has(name)) return true;
  if (rules.anyAddressAtPort === undefined || localAddress === undefined) return false;
  const address = localAddress.replace(/^::ffff:(?=\d+\.)/i, "").toLowerCase();
  return withPort(bracketed(address), rules.anyAddressAtPort).includes(name);
}

/** No Origin at all is a program, not a page. `null` is a page that hides where it is from. */
export function isAllowedOrigin(
  rules: HostRules,
  { origin, host }: { readonly origin: string | undefined; readonly host: string },
): boolean {
  if (origin === undefined) return true;
  const name = host.toLowerCase();
  const given = origin.toLowerCase();
  return given === `http://${name}` || (rules.configured.has(name) && given === `https://${name}`);
}

export function bracketed(address: string): string {
  return address.includes(":") && !address.startsWith("[") ? `[${address}]` : address;
}

/** Clients leave the port out where it is the usual one. */
function withPort(name: string, port: number): string[] {
  return port === 80 ? [name, `${name}:80`] : [`${name}:${port}`];
}

function hasPort(name: string): boolean {
  return /(?:^[^:]+|\]):\d+$/.test(name);
}
