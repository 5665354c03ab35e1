import { ToolError } from "../../../tool/errors.js";
import type { SearchResult } from "./ask-engine.js";

/** Results of the page for browsers without scripts; their links lead over a redirect that names the target. */
export async function readDuckDuckGo(html: string, limit: number): Promise<readonly SearchResult[]> {
  const { parseHTML } = await import("linkedom");
  const { document } = parseHTML(html);
  if (document.querySelector(".anomaly-modal__title, #challenge-form") !== null) {
    throw new ToolError("DuckDuckGo wants to see a person.", {
      hint: "Name another engine, or set one up with a key.",
    });
  }
  const found: SearchResult[] = [];
  for (const result of document.querySelectorAll(".result:not(.result--ad)")) {
    const link = result.querySelector("a.result__a");
    const url = targetOf(link?.getAttribute("href") ?? "");
    if (link === null || url === undefined) continue;
    found.push({
      title: textOf(link.textContent),
      url,
      snippet: textOf(result.querySelector(".result__snippet")?.textContent),
    });
    if (found.length === limit) break;
  }
  return found;
}

function targetOf(href: string): string | undefined {
  if (!URL.canParse(href, "https://duckduckgo.com/")) return undefined;
  const url = new URL(href, "https://duckduckgo.com/");
  const target = url.searchParams.get("uddg") ?? url.href;
  return /^https?:/i.test(target) ? target : undefined;
}

function textOf(value: string | null | undefined): string {
  return (value ?? "").replace(/\s+/g, " ").trim();
}
