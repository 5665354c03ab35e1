// @needs chromium
import { describe, expect, it } from "vitest";
import type { Policy } from "../../src/call/scope.js";
import { askAlways, riskyTool } from "../approvals/support.js";
import { until } from "../server/support.js";
import { PAYLOADS } from "../server/xss-payloads.js";
import { axeProblems, openDashboard, sidewaysScroll } from "./server.js";

/** Answers are not taken in the first half second that a question is shown. */
const READ_MS = 600;

async function asking(
  options: { readonly width?: number; readonly policy?: Policy; readonly timeout?: number } = {},
) {
  const { tool, ran } = riskyTool();
  const made = await openDashboard({
    tools: [tool],
    ...(options.width !== undefined && { width: options.width, height: 860 }),
    runtime: {
      builtins: false,
      policy: options.policy ?? askAlways,
      flags: { "approvals.timeout": options.timeout ?? 60 },
    },
  });
  const call = async (text: string, init: RequestInit = {}) => {
    const answer = await made.calls(
      { tool_calls: [{ id: "c", function: { name: "risky", arguments: { text } } }] },
      init,
    );
    return JSON.stringify(await answer.json());
  };
  const card = made.tab.locator("article.ask");
  const press = async (key: string) => {
    await made.tab.waitForTimeout(READ_MS);
    await made.tab.keyboard.press(key);
  };
  return { ...made, ran, call, card, press };
}

describe("Approvals", { timeout: 120_000 }, () => {
  it("a question is answered with the mouse, and the call runs", async () => {
    const { tab, show, call, card, ran, problems } = await asking();
    await show("/approvals");
    expect(await tab.locator("main").getAttribute("data-state")).toBe("empty");
    const called = call("do it");
    await card.waitFor();
    expect(await tab.title()).toBe("(1) Approvals · Hermes Tools");
    expect(
      await tab
        .getByRole("link", { name: /^Approvals/ })
        .first()
        .textContent(),
    ).toContain("1 need you");
    expect(await card.textContent()).toContain("do it");
    expect(await card.getByRole("heading").textContent()).toBe("it is risky");
    expect(await card.getByRole("button", { name: "Session" }).getAttribute("aria-disabled")).toBe("true");
    await tab.waitForTimeout(READ_MS);
    await card.getByRole("button", { name: "Once" }).click();
    expect(await called).toContain('"done":5');
    expect(ran).toEqual(["do it"]);
    await until(async () => (await tab.title()) === "Approvals · Hermes Tools");
    expect(problems).toEqual([]);
  });

  it("a question is answered with the keyboard alone; Enter says yes to nothing", async () => {
    const { tab, call, card, press, ran, problems } = await asking();
    await press("g");
    await tab.keyboard.press("a");
    await until(() => tab.url().endsWith("/approvals"));
    const denied = call("not this");
    await card.waitFor();
    await press("Enter");
    await tab.waitForTimeout(300);
    expect(await card.isVisible()).toBe(true);
    await press("d");
    expect(await denied).toContain("the person denied it");
    await until(async () => !(await card.isVisible()));

    const always = call("but this");
    await card.waitFor();
    await press("a");
    const grant = tab.getByRole("region", { name: "What always would cover" });
    expect(await grant.textContent()).toContain("exactly this");
    await tab.keyboard.press("Escape");
    await until(async () => !(await grant.isVisible()));
    await press("o");
    await always;
    expect(ran).toEqual(["but this"]);
    expect(problems).toEqual([]);
  });

  it("keys do nothing in the first half second, in a field, or when they are switched off", async () => {
    const { tab, show, call, card, press, ran } = await asking();
    await show("/approvals");
    const called = call("wait");
    await card.waitFor();
    await tab.keyboard.press("o");
    await card.getByLabel("Why not").focus();
    await press("o");
    expect(await card.getByLabel("Why not").inputValue()).toBe("o");
    expect(ran).toEqual([]);
    await tab.evaluate(`localStorage.setItem("hermes-preferences", JSON.stringify({ singleKeys: false }))`);
    await show("/approvals");
    await press("o");
    await tab.waitForTimeout(300);
    expect(ran).toEqual([]);
    await card.getByLabel("Why not").fill("not on a Friday");
    await card.getByRole("button", { name: "Deny" }).click();
    expect(await called).toContain("not on a Friday");
  });

  it("an answer given elsewhere folds the card and says so", async () => {
    const { tab, show, call, card, ask, problems } = await asking();
    await show("/approvals");
    const called = call("twice");
    await card.waitFor();
    await tab.waitForTimeout(READ_MS);
    // The page must not hear of it before it answers itself.
    await tab.route("**/v1/approvals", (route) =>
      route.request().method() === "GET" ? route.abort() : route.continue(),
    );
    const { approvals } = (await (await ask("/v1/approvals")).json()) as {
      approvals: { id: string; hash: string }[];
    };
    const [question] = approvals;
    await ask("/v1/approvals", {
      method: "POST",
      body: JSON.stringify({ ...pick(question), answer: "deny" }),
    });
    await card.getByRole("button", { name: "Once" }).click();
    await tab.getByText("Answered elsewhere").waitFor();
    await tab.unroute("**/v1/approvals");
    await until(async () => !(await card.isVisible()), 15_000);
    expect(await called).toContain("denied");
    expect(problems.filter((text) => !/409|ERR_FAILED/.test(text))).toEqual([]);
  });

  it("whoever reads a question keeps it when another comes that runs out sooner", async () => {
    const { tab, show, call, card, runtime } = await asking({ timeout: 60 });
    await show("/approvals");
    const leave = new AbortController();
    const first = call("first", { signal: leave.signal }).catch(() => undefined);
    await card.waitFor();
    const session = await runtime.openSession({ approver: runtime.approvals.unattended() });
    const second = session.call({ name: "risky", arguments: { text: "second" } });
    await until(async () => (await tab.locator(".inbox .q").count()) === 2);
    expect(await card.textContent()).toContain("first");
    leave.abort();
    await first;
    await until(async () => (await card.textContent())?.includes("second") === true);
    await tab.waitForTimeout(READ_MS);
    await card.getByRole("button", { name: "Deny" }).click();
    await second;
    session.close();
  });

  it("hostile text stays text, and what cannot be seen is written out", async () => {
    const { tab, show, call, card, problems } = await asking({ width: 400 });
    await show("/approvals");
    const leave = new AbortController();
    const hostile = PAYLOADS.map((payload) => call(payload, { signal: leave.signal }).catch(() => undefined));
    await until(async () => (await tab.locator(".inbox .q").count()) === PAYLOADS.length, 30_000);
    const gists = await tab.locator(".inbox .q .what").allTextContents();
    for (const payload of PAYLOADS.filter((text) => !/[^\x20-\x7e]/.test(text)))
      expect(gists).toContain(payload);
    expect(await tab.evaluate("window.attacked")).toBeUndefined();
    expect(await sidewaysScroll(tab)).toBe(0);
    leave.abort();
    await Promise.all(hostile);

    const hidden = call("ls \u202egnp\u3164.exe");
    await until(async () => (await card.textContent())?.includes("ls \\u{202e}gnp\\u{3164}.exe") === true);
    await tab.waitForTimeout(READ_MS);
    await card.getByRole("button", { name: "Deny" }).click();
    await hidden;
    expect(problems).toEqual([]);
  });

  it("a text longer than the screen can only be approved once its end was seen", async () => {
    const { tab, show, call, card, ran } = await asking();
    await show("/approvals");
    const called = call(`${"step\n".repeat(400)}and then the part that matters`);
    await card.waitFor();
    const once = card.getByRole("button", { name: "Once" });
    expect(await once.getAttribute("aria-disabled")).toBe("true");
    await card.getByText("and then the part that matters").scrollIntoViewIfNeeded();
    await card.getByLabel("Why not").scrollIntoViewIfNeeded();
    await until(async () => (await once.getAttribute("aria-disabled")) === null);
    await tab.waitForTimeout(READ_MS);
    await once.click();
    await called;
    expect(ran).toHaveLength(1);
  });

  it("without the page key a browser looks and answers nothing", async () => {
    const { tab, show, call, card, ran } = await asking();
    await tab.evaluate(`localStorage.removeItem("hermes-answers")`);
    await show("/approvals");
    const leave = new AbortController();
    const called = call("look at me", { signal: leave.signal }).catch(() => undefined);
    await card.waitFor();
    await tab.getByText("may look, not answer").first().waitFor();
    expect(await card.getByRole("button", { name: "Deny" }).getAttribute("aria-disabled")).toBe("true");
    leave.abort();
    await called;
    expect(ran).toEqual([]);
  });

  it("is usable for everybody, in both themes and at 400 px", async () => {
    const { tab, show, call, card } = await asking();
    const leave = new AbortController();
    const called = call("rm -rf build", { signal: leave.signal }).catch(() => undefined);
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [1280, 400]) {
        await tab.emulateMedia({ colorScheme });
        await tab.setViewportSize({ width, height: 860 });
        await show("/approvals");
        await card.waitFor();
        expect(await axeProblems(tab), `${colorScheme} ${width}`).toEqual([]);
        expect(await sidewaysScroll(tab)).toBe(0);
      }
    leave.abort();
    await called;
  });
});

function pick(question: { readonly id: string; readonly hash: string } | undefined) {
  if (question === undefined) throw new Error("no question");
  return { id: question.id, hash: question.hash };
}
