// linkinator over a whole site, as its documentation has it.
import { LinkChecker } from "linkinator";
import { oneByOne } from "../operations.mjs";

export function open({ url, atOnce, expected }) {
  return {
    operations: {
      site: oneByOne(async () => {
        const { passed, links } = await new LinkChecker().check({
          path: url,
          recurse: true,
          concurrency: atOnce,
        });
        const found = new Set(links.map((link) => link.url)).size;
        if (!passed || found !== expected) throw new Error(`linkinator: ${found} links, not ${expected}`);
      }),
    },
  };
}
