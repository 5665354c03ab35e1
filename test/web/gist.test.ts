import { describe, expect, it } from "vitest";
import { gistOfText } from "../../web/src/lib/gist.js";

describe("what a call is about, in a line of a list", () => {
  it.each([
    ['{"command":"npm test","timeout":60}', "npm test"],
    ['{"pattern":"merge","path":"src"}', "merge in src"],
    ['{"pattern":"merge","path":"."}', "merge"],
    ['{"method":"POST","url":"https://example.org/"}', "POST https://example.org/"],
    ['{"path":"a.txt","content":"long"}', "a.txt"],
    ['{"seconds":20}', "20"],
    ["{}", ""],
  ])("of %s it is %s", (text, gist) => {
    expect(gistOfText(text)).toBe(gist);
  });

  it.each([
    ['{"path":"a.txt","content":"a text that is cut o', "a.txt"],
    ['{"title":"Merge time","type":"bar","data":[{"ms":4', "Merge time"],
    ['{"code":"import json\\nprint(1)\\nprint(', "import json\nprint(1)\nprint(…"],
    ['{"id":1,"do":"change","to":[{"name":"close', "1  change"],
    ['{"todos":[{"id":"1","content":"Find it"', "id:1, content:Find it"],
    ["no JSON at all", "no JSON at all"],
  ])("of what was cut off, %s, it is %s", (text, gist) => {
    expect(gistOfText(text)).toBe(gist);
  });
});
