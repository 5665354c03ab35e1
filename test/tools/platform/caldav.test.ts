import { describe, expect, it } from "vitest";
import { PASSWORD, startCaldav } from "../../support/caldav-server.js";
import { startSite } from "../network/site.js";
import { caldav, caldavBehaviour } from "./caldav-behaviour.js";

describe("calendar_manage over CalDAV", () => {
  caldavBehaviour(startCaldav);
});

describe("a server that is none", () => {
  it("is told from one, and the login goes to no other place", async () => {
    const elsewhere = await startSite({ "/": "hello" });
    const site = await startSite({
      "/cal/": (_request, response) => {
        response.writeHead(207, { "content-type": "application/xml" });
        response.end(
          `<multistatus xmlns="DAV:"><response><href>/cal/</href><propstat><prop><resourcetype/><current-user-principal><href>${elsewhere.base}/</href></current-user-principal></prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>`,
        );
      },
      "/page": "<html>hello</html>",
    });
    const login = { username: "ada", password: PASSWORD };
    const redirecting = await caldav({ url: `${site.base}/cal/`, ...login });
    expect((await redirecting.call({ action: "list" })).error).toBeDefined();
    expect(elsewhere.seen).toEqual([]);
    const page = await caldav({ url: `${site.base}/page`, ...login });
    expect((await page.call({ action: "list" })).error?.message).toMatch(/calendar/);
  });
});
