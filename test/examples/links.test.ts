import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../cli/hermes.js";

const markdownIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
const PAGES = [...markdownIn("."), ...markdownIn("docs"), ...markdownIn("docs/tools")];

/** Code shows texts that only look like links. */
const proseOf = (page: string) =>
  readFileSync(join(root, page), "utf8")
    .replaceAll(/^```[\s\S]*?^```$/gm, "")
    .replaceAll(/`[^`\n]+`/g, (code) => code.replaceAll("](", "] ("));

/** As the platforms that show these pages make them. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = proseOf(page).matchAll(/^#+ +(.*)$/gm);
  return new Set(
    [...headings].map(([, text = ""]) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replaceAll(/\s/g, "-"),
    ),
  );
}

/** Links to other files and to headings. */
const linksOf = (page: string) =>
  [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link));

function targetOf(page: string, link: string) {
  const [path = "", anchor] = link.split("#");
  return { path: path === "" ? page : relative(root, resolve(root, dirname(page), path)), anchor };
}

const deadLinksOf = (page: string) =>
  linksOf(page).filter((link) => {
    const { path, anchor } = targetOf(page, link);
    if (!existsSync(join(root, path))) return true;
    return anchor !== undefined && path.endsWith(".md") && !anchorsOf(path).has(anchor);
  });

describe("links of the pages", () => {
  it.each(PAGES)("%s leads to files and headings that are there", (page) => {
    expect(deadLinksOf(page)).toEqual([]);
  });

  it("every page is in the list of pages, every tool in the list of tools", () => {
    const listed = (index: string) => (page: string) =>
      page === index || proseOf(index).includes(`](${relative(dirname(index), page)}`);
    expect(markdownIn("docs").filter((page) => !listed("docs/README.md")(page))).toEqual([]);
    expect(markdownIn("docs/tools").filter((page) => !listed("docs/tools/README.md")(page))).toEqual([]);
  });

  it("what the package leaves out is not linked from what it has", () => {
    const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly files: readonly string[];
    };
    const packed = [...files, "README.md", "LICENSE"];
    const outside = ["README.md", ...markdownIn("docs")].flatMap((page) =>
      linksOf(page)
        .map((link) => targetOf(page, link).path)
        .filter((path) => !packed.some((name) => path === name || path.startsWith(`${name}/`)))
        .map((path) => `${page}: ${path}`),
    );
    // For who works on the code.
    expect(outside).toEqual(["README.md: AGENTS.md"]);
  });
});
