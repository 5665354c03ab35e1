/** What the receiving server says of a mail, without the rest of it. */
export interface MailOrigin {
  /** Address in `From:`, lower case. */
  readonly from: string;
  /** All headers `Authentication-Results`, topmost first. */
  readonly results: readonly string[];
  /** Names our own server signs its verdicts with. */
  readonly servers: readonly string[];
}

/**
 * The address a mail certainly came from, or undefined. Anybody can write any `From:`, and any verdict too: only that of
 * our own server counts, and only where what it checked belongs to the domain in `From:`.
 */
export function verifiedSender({ from, results, servers }: MailOrigin): string | undefined {
  const domain = from.split("@")[1];
  if (domain === undefined || domain === "") return undefined;
  const ours = results.map(readVerdict).find(({ server }) => servers.some((name) => isWithin(server, name)));
  const isGood = ours?.checks.some(
    ({ method, result, domain: checked }) =>
      result === "pass" &&
      ["dmarc", "dkim", "spf"].includes(method) &&
      (method === "dmarc" ? checked === domain : isAligned(checked, domain)),
  );
  return isGood === true ? from : undefined;
}

interface Verdict {
  readonly server: string;
  readonly checks: readonly { readonly method: string; readonly result: string; readonly domain: string }[];
}

/** RFC 8601: `server; method=result reason property=value; …`, with comments in parentheses. */
function readVerdict(header: string): Verdict {
  const [head = "", ...rest] = withoutComments(header)
    .split(";")
    .map((part) => part.trim());
  const server = head.split(/\s+/)[0]?.toLowerCase() ?? "";
  const checks = rest.map((part) => {
    const [, method = "", result = ""] = /^([a-z0-9-]+)\s*=\s*([a-z]+)/i.exec(part) ?? [];
    const property = PROPERTIES[method.toLowerCase()];
    const value = property?.exec(part)?.[1] ?? "";
    return {
      method: method.toLowerCase(),
      result: result.toLowerCase(),
      domain: (value.split("@").at(-1) ?? "").toLowerCase(),
    };
  });
  return { server, checks };
}

const PROPERTIES: Readonly<Record<string, RegExp>> = {
  dmarc: /\bheader\.from\s*=\s*"?([^\s";]+)/i,
  dkim: /\bheader\.(?:d|i)\s*=\s*"?([^\s";]+)/i,
  spf: /\bsmtp\.mailfrom\s*=\s*"?([^\s";>]+)/i,
};

/** Comments may be nested. */
function withoutComments(text: string): string {
  let depth = 0;
  let kept = "";
  for (const character of text) {
    if (character === "(") depth += 1;
    else if (character === ")" && depth > 0) depth -= 1;
    else if (depth === 0) kept += character;
  }
  return kept;
}

/** The domain itself, or one above it: `mail.example.org` may speak for `example.org` and the other way round. */
function isAligned(checked: string, domain: string): boolean {
  return checked.includes(".") && (isWithin(domain, checked) || isWithin(checked, domain));
}

function isWithin(name: string, parent: string): boolean {
  return parent !== "" && (name === parent || name.endsWith(`.${parent}`));
}
