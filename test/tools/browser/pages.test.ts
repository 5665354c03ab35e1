// @needs chromium
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startSite } from "../network/site.js";
import { openBrowsing } from "./browsing.js";

/** For machines with little time; each test starts a browser. */
const SLOWLY = { timeout: 120_000 };

describe("a page", SLOWLY, () => {
  it("is opened with its status, title and what can be used, then clicked and typed into by ref", async () => {
    const site = await startSite({
      "/": `<title>Shop</title><h1>Shop</h1><p>Fresh bread</p>
        <label>Name <input></label><select aria-label="Size"><option>Small<option>Large</select>
        <button onclick="document.querySelector('p').textContent = 'Thank you, ' + document.querySelector('input').value">Buy</button>`,
    });
    const { get, ref } = await openBrowsing();
    expect(await get("navigate", { url: `${site.base}/` })).toMatchObject({
      url: `${site.base}/`,
      title: "Shop",
      status: 200,
    });
    const typed = await get("type", { ref: `@${await ref("textbox")}`, text: "Ada" });
    expect(typed).toMatchObject({ success: true, done: 'typed 3 characters into textbox "Name"' });
    expect(typed.snapshot).toContain("Ada");
    expect(await get("type", { ref: await ref("combobox"), text: "Large" })).toMatchObject({
      done: 'chose "Large" in combobox "Size"',
    });
    const clicked = await get("click", { ref: `[ref=${await ref("Buy")}]` });
    expect(clicked).toMatchObject({ success: true, done: 'clicked button "Buy"' });
    // What changed, and no more than that: lesson 40.
    expect(clicked.snapshot).toContain("+ Thank you, Ada");
    expect(clicked.snapshot).toContain("- Fresh bread");
    expect(clicked.snapshot).not.toContain("heading");
    expect(await get("snapshot")).toMatchObject({ truncated: false });
  });

  it("a link leads to the next page, back to the one before; a refused or unknown ref is told", async () => {
    const site = await startSite({
      "/": '<title>One</title><a href="/two">Onwards</a>',
      "/two": "<title>Two</title><h1>Second</h1>",
    });
    const { get, call, ref } = await openBrowsing();
    await get("navigate", { url: `${site.base}/` });
    const clicked = await get("click", { ref: await ref("Onwards") });
    expect(clicked).toMatchObject({ url: `${site.base}/two`, title: "Two", new_page: true });
    expect(clicked.snapshot).toContain('heading "Second"');
    expect(await get("back")).toMatchObject({ done: "went back", title: "One" });
    expect((await call("click", { ref: "e999" })).error).toMatchObject({ code: "not_found" });
    expect((await call("click", { ref: "the button" })).error).toMatchObject({ code: "invalid_arguments" });
    expect((await call("back")).error?.message).toContain("no page before");
  });

  it("keys, scrolling, console, pictures and expressions", async () => {
    const site = await startSite({
      "/": `<title>Long</title><input autofocus onkeydown="console.log('key', event.key)">
        <img alt="Square" width="40" height="40" src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40'/>">
        <div style="height:4000px">…</div><script>setTimeout(() => { throw new Error("broken") })</script>`,
    });
    const { get, call, cwd, ref } = await openBrowsing();
    await get("navigate", { url: `${site.base}/` });
    expect(await get("press", { key: "ctrl+a" })).toMatchObject({ done: "pressed Control+a" });
    expect((await call("press", { key: "Nonsense" })).error).toMatchObject({ code: "invalid_arguments" });
    expect((await get("scroll", { direction: "down" })).done).toMatch(
      /scrolled down: [1-9]\d* to \d+ of \d+ px/,
    );
    const log = await get("console", {
      expression: "Promise.resolve([scrollY > 0, document.title])",
      clear: true,
    });
    expect(log).toMatchObject({ result: '[true,"Long"]' });
    expect(JSON.stringify(log.messages)).toContain("key a");
    expect(JSON.stringify(log.errors)).toContain("broken");
    expect(await get("console")).toMatchObject({ messages: [], errors: [] });
    expect((await call("console", { expression: "nothing.here" })).error?.message).toContain(
      "nothing is not defined",
    );
    expect(await get("get_images")).toMatchObject({
      total: 1,
      images: [{ alt: "Square", width: 40, height: 40 }],
    });
    expect(await get("screenshot", { path: "whole.png", full_page: true })).toMatchObject({ width: 1280 });
    const png = readFileSync(join(cwd, "whole.png"));
    expect(png.readUInt32BE(20)).toBeGreaterThan(4_000);
    const shown = await call("screenshot", { path: "whole.png", full_page: true });
    const image = shown.content.find((part) => part.type === "image");
    // Lesson 44: what enters the history is small, however tall the page is.
    expect(image).toMatchObject({ mimeType: "image/jpeg" });
    expect(await get("screenshot", { ref: await ref("textbox"), format: "jpeg" })).toMatchObject({
      path: expect.stringMatching(/\.jpg$/),
    });
  });

  it("frames are part of it", async () => {
    const site = await startSite({
      "/": '<iframe src="/inner"></iframe>',
      "/inner": "<button onclick=\"this.textContent = 'Done'\">Inside</button>",
    });
    const { get, ref } = await openBrowsing();
    await get("navigate", { url: `${site.base}/` });
    expect((await get("click", { ref: await ref("Inside") })).snapshot).toContain('+ button "Done"');
  });

  it("refs are e and a number, once in the page and its frames, page after page; a stale one says what to do", async () => {
    const site = await startSite({
      "/": '<title>One</title><button>Outside</button><iframe src="/inner"></iframe><iframe src="/inner"></iframe>',
      "/inner": "<button>Inside</button>",
      "/two": `<title>Two</title><button onclick="document.title = 'clicked'">Second</button>`,
    });
    const { get, call, ref } = await openBrowsing();
    const refsOf = (text: unknown) =>
      [...String(text).matchAll(/\[ref=([^\]]*)\]/g)].map(([, found]) => found ?? "");
    const first = refsOf((await get("navigate", { url: `${site.base}/` })).snapshot);
    // A button, two frames, a button in each.
    expect(first).toHaveLength(5);
    expect(first.every((found) => /^e\d+$/.test(found))).toBe(true);
    expect(new Set(first).size).toBe(5);
    expect(refsOf((await get("snapshot")).snapshot)).toEqual(first);
    const full = refsOf((await get("snapshot", { full: true })).snapshot);
    expect(full).toEqual(expect.arrayContaining(first));
    expect(new Set(full).size).toBe(full.length);
    const old = await ref("Outside");
    const second = refsOf((await get("navigate", { url: `${site.base}/two` })).snapshot);
    expect(second).toHaveLength(1);
    expect(second[0]).toMatch(/^e\d+$/);
    expect([...first, ...full]).not.toContain(second[0]);
    // What it named is gone; it does not name something else now.
    const { error } = await call("click", { ref: old });
    expect(error).toMatchObject({ code: "not_found" });
    expect(`${error?.message} ${error?.hint}`).toMatch(/is gone.*browser_snapshot/);
    expect(await get("click", { ref: second[0] })).toMatchObject({ title: "clicked" });
  });
});

describe("what used to freeze agents (lesson 47)", SLOWLY, () => {
  it("dialogs stop the page until they are answered, and every result says so", async () => {
    const site = await startSite({
      "/": `<button onclick="document.title = confirm('Sure?') ? prompt('Who?', 'me') : 'no'; alert('End')">Ask</button>`,
    });
    const { get, call, ref } = await openBrowsing();
    await get("navigate", { url: `${site.base}/` });
    expect(await get("click", { ref: await ref("Ask") })).toMatchObject({
      dialog: { type: "confirm", message: "Sure?" },
    });
    expect((await call("snapshot")).error?.message).toContain("waits for its dialog");
    expect(await get("dialog", { action: "accept" })).toMatchObject({
      done: 'accepted confirm "Sure?"',
      dialog: { type: "prompt", default_value: "me" },
    });
    expect(await get("dialog", { action: "accept", prompt_text: "Ada" })).toMatchObject({
      dialog: { type: "alert", message: "End" },
    });
    expect(await get("dialog", { action: "dismiss" })).toMatchObject({ title: "Ada" });
    expect((await call("dialog", { action: "accept" })).error?.message).toContain("No dialog is open");
  });

  it("dialogs are answered by themselves where the settings say so", async () => {
    const site = await startSite({
      "/": `<button onclick="document.title = confirm('Sure?') ? 'yes' : 'no'">Ask</button>`,
    });
    const { get, ref } = await openBrowsing({ "browser.dialog_policy": "auto_dismiss" });
    await get("navigate", { url: `${site.base}/` });
    expect(await get("click", { ref: await ref("Ask") })).toMatchObject({
      title: "no",
      notes: ['dialog dismissed: confirm "Sure?"'],
    });
  });

  it("a dialog that nobody answers ends by itself; another page may be opened over it", async () => {
    const site = await startSite({
      "/": `<title>One</title><button onclick="document.title = confirm('Sure?') ? 'yes' : 'no'">Ask</button>`,
      "/two": "<title>Two</title><script>onbeforeunload = (event) => event.preventDefault()</script>",
    });
    const { get, call, ref } = await openBrowsing({ "browser.dialog_timeout": 1 });
    await get("navigate", { url: `${site.base}/` });
    const ask = await ref("Ask");
    expect(await get("click", { ref: ask })).toMatchObject({ dialog: { message: "Sure?" } });
    const after = async () => ((await call("snapshot")).structured as { title?: string } | undefined)?.title;
    await expect.poll(after, { timeout: 20_000, interval: 200 }).toBe("no");
    expect(await get("click", { ref: ask })).toMatchObject({ dialog: { type: "confirm" } });
    const over = await get("navigate", { url: `${site.base}/two` });
    expect(over).toMatchObject({ title: "Two" });
    // Whichever was first, the time limit or the next page: it is told.
    expect(String(over.notes)).toMatch(/dismissed/);
    expect(await get("navigate", { url: `${site.base}/` })).toMatchObject({ title: "One" });
  });

  it("downloads land in the workspace under a safe name, uploads come from there only", async () => {
    const site = await startSite({
      "/": `<a href="/file">Report</a><form><input type="file" aria-label="Attach" multiple
        onchange="document.title = [...this.files].map((file) => file.name + ' ' + file.size).join()"></form>`,
      "/file": (_request, response) =>
        void response
          .writeHead(200, { "content-disposition": 'attachment; filename="../../.profile"' })
          .end("evil=1"),
    });
    const { get, call, ref, cwd } = await openBrowsing();
    await get("navigate", { url: `${site.base}/` });
    const clicked = await get("click", { ref: await ref("Report") });
    const [file] = clicked.downloads as readonly { path: string; bytes: number }[];
    expect(file?.path.startsWith(join(cwd, "downloads"))).toBe(true);
    expect(readFileSync(file?.path ?? "", "utf8")).toBe("evil=1");
    writeFileSync(join(cwd, "note.txt"), "hello");
    expect(await get("type", { ref: await ref("Attach"), text: "note.txt" })).toMatchObject({
      title: "note.txt 5",
    });
    const refused = await call("type", { ref: await ref("Attach"), text: "/etc/passwd" });
    expect(refused.error).toMatchObject({ code: "denied" });
    expect(refused.error?.message).toContain("not in the workspace");
    symlinkSync("/etc/passwd", join(cwd, "mine.txt"));
    const linked = await call("type", { ref: await ref("Attach"), text: "mine.txt" });
    expect(linked.error).toMatchObject({ code: "denied" });
  });

  it("a new tab that a click opens is followed and left again; tabs out of nowhere are not", async () => {
    const site = await startSite({
      "/": '<title>First</title><a href="/other" target="_blank">New</a>',
      "/other": '<title>Other</title><button onclick="window.close()">Shut</button>',
    });
    const { get, call, ref } = await openBrowsing();
    await get("navigate", { url: `${site.base}/` });
    expect(await get("click", { ref: await ref("New") })).toMatchObject({ title: "Other" });
    expect(await get("back")).toMatchObject({ done: "closed the tab", title: "First" });
    await get("console", { expression: "void setTimeout(() => open('/other'), 50)" });
    const looked = async () => {
      const still = await get("snapshot");
      expect(still).toMatchObject({ title: "First" });
      return String(still.notes);
    };
    await expect.poll(looked, { timeout: 20_000, interval: 100 }).toContain("left aside");
    // Lesson 43: what was meant for a tab that is gone reaches no other.
    await get("click", { ref: await ref("New") });
    const there = await ref("Shut");
    await call("click", { ref: there });
    expect(await get("snapshot")).toMatchObject({ title: "First" });
    expect((await call("click", { ref: there })).error).toMatchObject({ code: "not_found" });
  });
});

describe("the protocol", SLOWLY, () => {
  it("answers about the page, and is no way to files, other tabs or the browser itself", async () => {
    const site = await startSite({ "/": "<title>Deep</title>" });
    const { get, call } = await openBrowsing();
    await get("navigate", { url: `${site.base}/` });
    expect(await get("cdp", { method: "Runtime.evaluate", params: { expression: "1 + 1" } })).toMatchObject({
      result: { result: { value: 2 } },
    });
    expect((await call("cdp", { method: "Runtime.nothing" })).error?.message).toContain(
      "The browser answered",
    );
    for (const [method, params] of [
      ["Page.navigate", { url: "file:///etc/passwd" }],
      ["Page.navigate", { url: "http://127.0.0.2/" }],
      ["Target.createTarget", { url: "about:blank" }],
      ["Browser.close", {}],
      ["DOM.setFileInputFiles", { files: ["/etc/passwd"] }],
      ["Fetch.enable", {}],
      ["IO.read", { handle: "1" }],
    ] as const)
      expect([method, (await call("cdp", { method, params })).error?.code]).toEqual([method, "blocked"]);
  });
});
