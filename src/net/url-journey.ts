import { systemResolve } from "./dial.js";
import { asJudged, DEFAULT_MAX_REDIRECTS } from "./fetch.js";
import { judgeUrl, type NetworkRules, type ResolveHost } from "./urls.js";

export interface JourneyVerdict {
  readonly verdict: "allow" | "block";
  readonly reason: string;
  /** What would be dialled for the last address, when nothing is in the way. */
  readonly addresses?: readonly string[];
}

/**
 * Judges a URL with the redirects it would meet, as the guarded fetch does hop by hop, and dials nothing.
 * `dns` replaces the resolver: a list of addresses, or a list of such lists, one for each question.
 */
export async function judgeJourney(line: unknown, rules: NetworkRules): Promise<JourneyVerdict> {
  const { url, dns, redirects } = readLine(line);
  if (url === undefined) return { verdict: "block", reason: "there is no URL in this line" };
  if (redirects.length > DEFAULT_MAX_REDIRECTS) {
    return { verdict: "block", reason: `more than ${DEFAULT_MAX_REDIRECTS} redirects` };
  }
  const resolve = dns === undefined ? systemResolve : scriptedResolve(dns);
  let current = url;
  let last: JourneyVerdict = { verdict: "allow", reason: "" };
  for (const [hop, location] of [url, ...redirects].entries()) {
    const target = hop === 0 ? location : absolute(location, current);
    const judged = await judgeUrl(target, { ...rules, resolve });
    if (judged.verdict === "block") {
      return { verdict: "block", reason: hop === 0 ? judged.reason : `redirect ${hop}: ${judged.reason}` };
    }
    current = judged.url.href;
    last = { verdict: "allow", reason: "", addresses: judged.addresses };
  }
  return last;
}

function absolute(location: string, base: string): string {
  return asJudged(location, URL.canParse(location, base) ? new URL(location, base).href : location);
}

interface Line {
  readonly url: string | undefined;
  readonly dns: readonly (readonly string[])[] | undefined;
  readonly redirects: readonly string[];
}

function readLine(line: unknown): Line {
  const row = typeof line === "object" && line !== null ? (line as Record<string, unknown>) : {};
  return {
    url: typeof row.url === "string" ? row.url : undefined,
    dns: Array.isArray(row.dns) ? answersOf(row.dns) : undefined,
    redirects: Array.isArray(row.redirects) ? row.redirects.map(locationOf) : [],
  };
}

function answersOf(dns: readonly unknown[]): readonly (readonly string[])[] {
  return dns.some(Array.isArray)
    ? dns.map((answer) => (Array.isArray(answer) ? answer.map(String) : [String(answer)]))
    : [dns.map(String)];
}

function locationOf(redirect: unknown): string {
  if (typeof redirect !== "object" || redirect === null) return String(redirect);
  const { location, url } = redirect as { location?: unknown; url?: unknown };
  return String(location ?? url);
}

/** The last answer is given again when there are more questions than answers. */
function scriptedResolve(answers: readonly (readonly string[])[]): ResolveHost {
  let asked = 0;
  return async () => answers[Math.min(asked++, answers.length - 1)] ?? [];
}
