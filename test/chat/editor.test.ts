import { describe, expect, it } from "vitest";
import { LineEditor } from "../../src/cli/chat/editor.js";
import { type Key, type KeyName, KeyReader } from "../../src/cli/chat/keys.js";

function editing(text: string, ...keys: readonly KeyName[]): LineEditor {
  const editor = new LineEditor();
  editor.set(text);
  for (const name of keys) editor.take({ kind: "key", name });
  return editor;
}

describe("the line editor", () => {
  it("moves and deletes by what a person sees as characters", () => {
    const editor = editing("a👩‍👩‍👧e\u0301", "backspace");
    expect(editor.text).toBe("a👩‍👩‍👧");
    editor.take({ kind: "key", name: "left" });
    expect(editor.before).toBe("a");
    editor.take({ kind: "key", name: "delete" });
    expect(editor.text).toBe("a");
  });

  it.for<[string, readonly KeyName[], string, string]>([
    ["one two three", ["delete-word"], "one two ", "one two "],
    ["one two three", ["word-left", "word-left"], "one ", "one two three"],
    ["one two", ["home", "word-right"], "one", "one two"],
    ["first\nsecond", ["delete-to-start"], "first\n", "first\n"],
    ["first\nsecond", ["home"], "first\n", "first\nsecond"],
    ["first\nsecond", ["home", "left", "home", "delete-to-end"], "", "\nsecond"],
  ])("%j after %j", ([text, keys, before, after]) => {
    const editor = editing(text, ...keys);
    expect([editor.before, editor.text]).toEqual([before, after]);
  });

  it("goes up and down by columns, and says where there is no line", () => {
    const editor = editing("日本語\nabc\nx");
    expect(editor.moveLine(1)).toBe(false);
    expect(editor.moveLine(-1)).toBe(true);
    expect(editor.before).toBe("日本語\na");
    editor.take({ kind: "key", name: "end" });
    expect(editor.moveLine(-1)).toBe(true);
    expect(editor.before).toBe("日");
    expect(editor.moveLine(-1)).toBe(false);
  });

  it("breaks rows by cells and puts the caret where the next character will stand", () => {
    const editor = editing("abcd漢字");
    const layout = () => editor.layout({ prompt: "> ", width: 8 });
    expect(layout()).toEqual({
      rows: ["> abcd漢", "  字"],
      caret: { row: 1, before: "  字" },
    });
    editor.set("abcdef");
    expect(layout()).toEqual({ rows: ["> abcdef", "  "], caret: { row: 1, before: "  " } });
  });
});

function keysOf(...pieces: readonly string[]): readonly Key[] {
  const reader = new KeyReader();
  return pieces.flatMap((piece) => reader.read(piece));
}

describe("keys", () => {
  it("are read however they were cut", () => {
    expect(keysOf("a\u001b", "[", "1;5", "Db")).toEqual([
      { kind: "text", text: "a" },
      { kind: "key", name: "word-left" },
      { kind: "text", text: "b" },
    ]);
    expect(keysOf("\u001b[200~on", "e\rtwo\u001b[2", "01~\r")).toEqual([
      { kind: "paste", text: "one\ntwo" },
      { kind: "key", name: "enter" },
    ]);
  });

  it("Shift+Enter, Alt+Enter and Ctrl+J break the line, Enter sends", () => {
    for (const typed of ["\n", "\u001b\r", "\u001b[13;2u", "\u001b[27;2;13~"])
      expect(keysOf(typed)).toEqual([{ kind: "key", name: "newline" }]);
    expect(keysOf("hi\r")).toEqual([
      { kind: "text", text: "hi" },
      { kind: "key", name: "enter" },
    ]);
  });

  it("a lone Escape is one when nothing follows", () => {
    const reader = new KeyReader();
    expect(reader.read("\u001b")).toEqual([]);
    expect(reader.isWaiting).toBe(true);
    expect(reader.giveUpWaiting()).toEqual([{ kind: "key", name: "escape" }]);
    expect(reader.isWaiting).toBe(false);
  });

  it("what is pasted can steer nothing", () => {
    expect(keysOf("\u001b[200~a\u001b[2Jb\u0003\u001b[201~")).toEqual([{ kind: "paste", text: "ab" }]);
  });
});
