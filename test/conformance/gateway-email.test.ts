import { rolesOf } from "../../src/gateway/configured.js";
import { mail, mailbox } from "../gateway/mail-support.js";
import { describeGateway } from "./gateways.js";

describeGateway({
  name: "email",
  preset: "hermes-email",
  maxChars: 4_000,
  async start() {
    const troubles: string[] = [];
    const box = await mailbox({
      onMailFrom: (_address, _session, done) => {
        const trouble = troubles[0] === "silent_take" ? undefined : troubles.shift();
        if (trouble === undefined) return done();
        done(Object.assign(new Error("try again later"), { responseCode: trouble === "rate" ? 451 : 421 }));
      },
    });
    return {
      gatewayName: "email",
      open: () => ({ gateway: box.open(), role: rolesOf({ allowed: ["ann@friends.example"], owners: [] }) }),
      async deliver({ id, text }) {
        box.imap.deliver(mail({ id, text, thread: "root" }));
      },
      async stranger(text) {
        box.imap.deliver(mail({ from: "mallory@elsewhere.example", text }));
      },
      async deliverFile({ name, mimeType, bytes, text }) {
        box.imap.deliver(mail({ text, attachment: { name, mimeType, bytes } }));
      },
      sentFiles: () => box.sentFiles(),
      shown: () => box.shown(),
      trouble: (kind) => void (kind === "silent_take" ? undefined : troubles.push(kind)),
    };
  },
});
