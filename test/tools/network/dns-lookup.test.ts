import { createServer, Packet } from "dns2";
import { describe, expect, it } from "vitest";
import { onTestEnd, testRuntime } from "../../support/runtime.js";

const RECORDS: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  A: [{ address: "203.0.113.7" }],
  AAAA: [{ address: "2001:db8::7" }],
  MX: [
    { priority: 20, exchange: "backup.example.org" },
    { priority: 10, exchange: "mail.example.org" },
  ],
  TXT: [{ data: ["v=spf1 -all"] }],
  CNAME: [{ domain: "other.example.org" }],
  NS: [{ ns: "ns1.example.org" }],
};

async function startDns(): Promise<string> {
  const names = new Map<number, string>(Object.entries(Packet.TYPE).map(([name, number]) => [number, name]));
  const server = createServer({
    udp: true,
    handle: (request, send) => {
      const response = Packet.createResponseFromRequest(request);
      const [question] = request.questions;
      const type = names.get(question?.type ?? 0) ?? "";
      if (question?.name === "nowhere.example.org") response.header.rcode = 3;
      else if (question?.name !== "silent.example.org")
        for (const record of RECORDS[type] ?? [])
          response.answers.push({
            name: question?.name ?? "",
            type: Packet.TYPE[type as keyof typeof Packet.TYPE],
            class: Packet.CLASS.IN,
            ttl: 60,
            ...record,
          } as never);
      if (question?.name !== "silent.example.org") send(response);
    },
  });
  const { udp } = (await server.listen({ udp: { port: 0, address: "127.0.0.1" } })) as {
    udp: { port: number };
  };
  onTestEnd(() => server.close());
  return `127.0.0.1:${udp.port}`;
}

async function lookup(
  flags: Readonly<Record<string, unknown>> = { "security.allowed_hosts": ["127.0.0.1"] },
) {
  const { runtime } = await testRuntime([], { builtins: true, flags });
  const session = await runtime.openSession();
  return (args: Record<string, unknown>, signal?: AbortSignal) =>
    session.call({ name: "dns_lookup", arguments: args }, { signal });
}

describe("dns_lookup", () => {
  it.each([
    ["A", ["203.0.113.7"]],
    ["AAAA", ["2001:db8::7"]],
    ["MX", ["10 mail.example.org", "20 backup.example.org"]],
    ["TXT", ["v=spf1 -all"]],
    ["CNAME", ["other.example.org"]],
    ["NS", ["ns1.example.org"]],
  ])("%s records", async (type, values) => {
    const server = await startDns();
    const call = await lookup();
    const { structured } = await call({ name: "example.org", type, server });
    const { found, records } = structured as { found: boolean; records: { value: string }[] };
    expect([found, records.map(({ value }) => value)]).toEqual([true, values]);
  });

  it("a name that is not there is an answer, a server that says nothing is an error", async () => {
    const server = await startDns();
    const call = await lookup();
    expect((await call({ name: "nowhere.example.org", server })).structured).toMatchObject({
      found: false,
      records: [],
      reason: "there is no such name",
    });
    expect((await call({ name: "example.org", server: "127.0.0.1:1" })).error?.message).toContain(
      "name server",
    );
  });

  it("a private name server is closed unless the operator opened it; one that is no address is refused", async () => {
    const server = await startDns();
    const closed = await lookup({});
    expect((await closed({ name: "example.org", server })).error?.code).toBe("denied");
    const call = await lookup();
    expect((await call({ name: "example.org", server: "ns1.example.org" })).error?.code).toMatch(
      /denied|invalid/,
    );
  });

  it("ends with its call", async () => {
    const server = await startDns();
    const call = await lookup();
    const stop = new AbortController();
    const running = call({ name: "silent.example.org", server }, stop.signal);
    setTimeout(() => stop.abort(), 200);
    expect((await running).error?.code).toBe("cancelled");
  });
});
