import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { ToolError } from "../tool/errors.js";
import type { NameAnswer, NameQuestion, NameRecord, RecordType } from "../tool/fetch.js";

const TIMEOUT_MS = 5_000;
const TRIES = 2;

/** What a name server says that no other name server would say differently. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "there is no such name",
  ENODATA: "the name exists, but has no records of this type",
  ESERVFAIL: "the name server failed",
  EREFUSED: "the name server refused to answer",
  ETIMEOUT: "the name server did not answer in time",
  ECONNREFUSED: "no name server listens there",
  EBADNAME: "it is not a name that can be looked up",
};
const ANSWERED = new Set(["ENOTFOUND", "ENODATA"]);

/** Asks a name server; that there is nothing is an answer too. Where the server may be was judged by the caller. */
export async function lookUpName(question: NameQuestion): Promise<NameAnswer> {
  const { name, server, signal } = question;
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (server !== undefined) resolver.setServers([serverAddress(server)]);
  const type = question.type ?? (isIP(name) === 0 ? "A" : "PTR");
  const asked = { type, server: server ?? resolver.getServers()[0] ?? "system" };
  const stop = () => resolver.cancel();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return { ...asked, records: await lookUp(resolver, name, type) };
  } catch (error) {
    signal?.throwIfAborted();
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const reason = REASONS[code] ?? (error instanceof Error ? error.message : String(error));
    if (ANSWERED.has(code)) return { ...asked, records: [], reason };
    throw new ToolError(`${name} (${type}) could not be looked up: ${reason}.`, {
      hint: "Check the spelling, try another type, or name another server.",
      cause: error,
    });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

function serverAddress(server: string): string {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+|[0-9a-f:]+))(?::(\d+))?$/i.exec(server) ?? [];
  const address = bracketed ?? plain ?? "";
  const whole = isIP(server) === 6 ? server : address;
  if (isIP(whole) === 0) {
    throw new ToolError(`${JSON.stringify(server)} is not the address of a name server.`, {
      code: "invalid_arguments",
      hint: "Write an IP address, with a port if need be: 9.9.9.9, 10.0.0.2:5353, [2620:fe::fe]:53.",
    });
  }
  if (isIP(server) !== 0 || port === undefined) return whole;
  return isIP(whole) === 6 ? `[${whole}]:${port}` : `${whole}:${port}`;
}

async function lookUp(resolver: Resolver, name: string, type: RecordType): Promise<readonly NameRecord[]> {
  const plain = (value: string): NameRecord => ({ type, value });
  switch (type) {
    case "A":
      return (await resolver.resolve4(name, { ttl: true })).map(({ address, ttl }) => ({
        type,
        value: address,
        ttl,
      }));
    case "AAAA":
      return (await resolver.resolve6(name, { ttl: true })).map(({ address, ttl }) => ({
        type,
        value: address,
        ttl,
      }));
    case "CNAME":
      return (await resolver.resolveCname(name)).map(plain);
    case "NS":
      return (await resolver.resolveNs(name)).map(plain);
    case "PTR":
      return (isIP(name) === 0 ? await resolver.resolvePtr(name) : await resolver.reverse(name)).map(plain);
    case "TXT":
      return (await resolver.resolveTxt(name)).map((parts) => plain(parts.join("")));
    case "MX":
      return (await resolver.resolveMx(name))
        .sort((left, right) => left.priority - right.priority)
        .map((data) => ({ type, value: `${data.priority} ${data.exchange}`, data: { ...data } }));
    case "SRV":
      return (await resolver.resolveSrv(name)).map((data) => ({
        type,
        value: `${data.priority} ${data.weight} ${data.port} ${data.name}`,
        data: { ...data },
      }));
    case "SOA": {
      const data = await resolver.resolveSoa(name);
      return [{ type, value: `${data.nsname} ${data.hostmaster} ${data.serial}`, data: { ...data } }];
    }
    case "CAA":
      return (await resolver.resolveCaa(name)).map((data) => {
        const [kind = "", value = ""] =
          Object.entries(data)
            .find(([key]) => key !== "critical")
            ?.map(String) ?? [];
        return { type, value: `${data.critical} ${kind} ${value}`, data: { ...data } };
      });
  }
}
