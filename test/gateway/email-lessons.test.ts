import { describe, expect, it } from "vitest";
import { rolesOf } from "../../src/gateway/configured.js";
import { ownWords, whyNotAnswered } from "../../src/gateway/email/mail-text.js";
import { verifiedSender } from "../../src/gateway/email/verified-sender.js";
import { AGENT, mail, mailbox } from "./mail-support.js";
import { eventually, hubWith } from "./support.js";

const ROLE = rolesOf({ allowed: ["ann@friends.example"], owners: [] });
const SERVERS = ["mx.example.org"];

describe("lesson 95: From is what anybody writes", () => {
  const from = "ann@friends.example";
  const good = "mx.example.org; spf=pass smtp.mailfrom=ann@friends.example";

  it.each([
    ["its own DMARC verdict", ["mx.example.org; dmarc=pass (p=reject) header.from=friends.example"], true],
    ["an aligned DKIM signature", ["mx.example.org; dkim=pass header.d=mail.friends.example"], true],
    ["an aligned sender of the envelope", [good], true],
    ["none at all", [], false],
    ["a verdict somebody else wrote", ["mx.evil.example; dmarc=pass header.from=friends.example"], false],
    [
      "a name that only ends alike",
      ["notmx.example.org.evil.example; dmarc=pass header.from=friends.example"],
      false,
    ],
    [
      "a pass for another domain",
      ["mx.example.org; dkim=pass header.d=evil.example; spf=pass smtp.mailfrom=x@evil.example"],
      false,
    ],
    ["a fail", ["mx.example.org; dmarc=fail header.from=friends.example"], false],
    [
      "a pass inside a comment",
      ["mx.example.org; dmarc=fail (dmarc=pass header.from=friends.example)"],
      false,
    ],
    ["a fail above a forged pass", ["mx.example.org; dmarc=fail header.from=friends.example", good], false],
    ["a pass for a top-level domain", ["mx.example.org; dkim=pass header.d=example"], false],
  ])("%s", (_name, results, isGood) => {
    expect(verifiedSender({ from, results, servers: SERVERS })).toBe(isGood ? from : undefined);
  });

  it("a forged mail reaches no model; the answer to a good one goes to its sender, not to Reply-To", async () => {
    const box = await mailbox();
    const { asked } = await hubWith({ gateways: [{ gateway: box.open(), role: ROLE }] });
    box.imap.deliver(mail({ text: "forged", headers: ["Reply-To: mallory@evil.example"] }));
    const verdict = "Authentication-Results: mx.example.org; dmarc=pass header.from=friends.example";
    box.imap.deliver(mail({ text: "real", headers: [verdict, "Reply-To: mallory@evil.example"] }));
    await eventually(() => expect(box.smtp.received).toHaveLength(1));
    expect(box.smtp.received[0]?.to).toEqual(["ann@friends.example"]);
    expect(asked).toHaveLength(1);
    await eventually(() => expect(box.imap.mails.every(({ seen }) => seen)).toBe(true));
  });
});

describe("lesson 96: machines are not answered", () => {
  it.each([
    ["an automatic answer", { "auto-submitted": "auto-replied" }],
    ["a mailing list", { "list-id": "<news.example>" }],
    ["a bounce", { "return-path": "<>" }],
    ["bulk", { precedence: "bulk" }],
    ["a report", { "content-type": "multipart/report; report-type=delivery-status" }],
  ])("%s", (_name, headers: Readonly<Record<string, string>>) => {
    const header = (name: string) => headers[name];
    expect(whyNotAnswered({ from: "ann@friends.example", messageId: "<1@x>", header }, AGENT)).toBeDefined();
  });

  it("neither is its own mail, and a person is", () => {
    const header = () => undefined;
    expect(whyNotAnswered({ from: AGENT, messageId: "<1@x>", header }, AGENT)).toBeDefined();
    const own = { from: "ann@friends.example", messageId: "<hermes-7.0123456789ab@example.org>", header };
    expect(whyNotAnswered(own, AGENT)).toBeDefined();
    expect(whyNotAnswered({ ...own, messageId: "<1@x>" }, AGENT)).toBeUndefined();
  });

  it("answers say that a machine wrote them, and a thread is answered so often an hour", async () => {
    const box = await mailbox();
    const gateway = box.open();
    Object.assign(gateway.traits, { mostPerHour: 3 });
    await hubWith({ gateways: [{ gateway, role: ROLE }] });
    for (let at = 0; at < 6; at++) box.imap.deliver(mail({ text: `n${at}`, thread: "loop" }));
    await eventually(() => expect(box.imap.mails.every(({ seen }) => seen)).toBe(true));
    await eventually(() => expect(box.smtp.received).toHaveLength(4));
    expect(box.smtp.received[0]?.raw).toMatch(/^Auto-Submitted: auto-replied/m);
    expect(box.shown().at(-1)).toMatch(/more than 3 messages in an hour/);
  });
});

describe("mails", () => {
  it("only a person's own words count", () => {
    expect(ownWords("yes\r\n\r\nOn Monday, Hermes wrote:\r\n> Shall I?\r\n")).toBe("yes");
    expect(ownWords("do it\n-- \nAnn\n+49")).toBe("do it");
    expect(ownWords("a > b\nis true")).toBe("a > b\nis true");
  });

  it("a connection that breaks is made again, and mail that came meanwhile is answered", async () => {
    const box = await mailbox();
    const { store } = await hubWith({ gateways: [{ gateway: box.open(), role: ROLE }] });
    await eventually(() => expect(store.health.list()).toMatchObject([{ state: "running" }]));
    box.imap.hangUp();
    box.imap.deliver(mail({ text: "still there?" }));
    await eventually(() => expect(box.shown()).toEqual(["You said: still there?"]));
  });
});
