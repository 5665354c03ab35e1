import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expandKeys } from "../../src/env/pty/keys.js";

describe("names of keys", () => {
  it("become what a terminal sends", () => {
    expect(expandKeys("ls<enter>")).toBe("ls\r");
    expect(expandKeys("<ctrl-c><CTRL-D><ctrl-[><ctrl-?>")).toBe("\u0003\u0004\u001b\u007f");
    expect(expandKeys("<up><home><F1><f5><pgdn><delete><backspace>")).toBe(
      "\u001b[A\u001b[H\u001bOP\u001b[15~\u001b[6~\u001b[3~\u007f",
    );
    expect(expandKeys("<up><end><f5>", { applicationCursor: true })).toBe("\u001bOA\u001bOF\u001b[15~");
    expect(expandKeys("<alt-B><ctrl-left><shift-tab>")).toBe("\u001bB\u001b[1;5D\u001b[Z");
  });

  it("that are no keys stay text, as does the name of a key behind <lt>", () => {
    const text =
      "if (a<b) x = <div>&lt;</div> List<int> <enterprise> <ctrl-> <alt-esc> <ctrl-5> <constructor>";
    expect(expandKeys(text)).toBe(text);
    expect(expandKeys("<lt>enter> <lt>lt>")).toBe("<enter> <lt>");
  });

  it("can always be typed as text: escaping every < gives the text back", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom("<enter>", "<", ">", "<lt>", "<ctrl-c>", "<<up>>"))),
        (pieces) => {
          const text = pieces.join("");
          expect(expandKeys(text.replaceAll("<", "<lt>"))).toBe(text);
        },
      ),
    );
  });
});
