import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { start, tempFolder } from "../cli/hermes.js";
import { eventually } from "../gateway/support.js";
import { TelegramServer, TOKEN } from "../support/platforms/telegram-server.js";
import { startScriptedModel } from "../support/scripted-model/server.js";

describe("a story through a gateway", () => {
  it("writes a file, asks before it removes one, hears no and then yes, and sends the file", async () => {
    const telegram = await new TelegramServer().listen();
    const removes = { name: "terminal", arguments: { command: "rm -r build" } };
    const model = await startScriptedModel({
      steps: [
        { calls: [{ name: "write_file", arguments: { path: "report.md", content: "# All is well\n" } }] },
        { text: "The report is written." },
        { calls: [removes] },
        { text: "Then I leave it." },
        { calls: [removes] },
        { text: "It is gone." },
        { calls: [{ name: "send_message", arguments: { target: "here", files: ["report.md"] } }] },
        { text: "There you are." },
      ],
    });
    const home = tempFolder();
    const cwd = tempFolder();
    mkdirSync(join(cwd, "build"));
    const env = {
      HERMES_MODEL_PROVIDER: "compatible",
      HERMES_MODEL: "scripted",
      HERMES_MODEL_BASE_URL: model.url,
      HERMES_MODEL_API_KEY: "test-key",
      TELEGRAM_BOT_TOKEN: TOKEN,
      TELEGRAM_API_ROOT: telegram.url,
      TELEGRAM_ALLOWED_USERS: "42",
    };
    const gateway = start(["gateway", "run", "telegram"], { home, cwd, env });
    const says = async (text: string, answer: string) => {
      telegram.say({ text });
      await eventually(() => expect(telegram.shown.at(-1)?.text).toBe(answer));
    };
    const answers = async (text: string, label: string) => {
      telegram.say({ text });
      await eventually(() => expect(telegram.shown.at(-1)?.buttons).toHaveLength(4));
      const question = telegram.shown.at(-1);
      if (question === undefined) throw new Error("nobody was asked");
      expect(question.text).toContain("rm -r build");
      telegram.press(question, label);
    };
    await says("write the report", "The report is written.");
    expect(readFileSync(join(cwd, "report.md"), "utf8")).toBe("# All is well\n");
    await answers("remove the build", "Deny");
    await eventually(() => expect(telegram.shown.at(-1)?.text).toBe("Then I leave it."));
    expect(existsSync(join(cwd, "build"))).toBe(true);
    await answers("do remove it", "Once");
    await eventually(() => expect(telegram.shown.at(-1)?.text).toBe("It is gone."));
    expect(existsSync(join(cwd, "build"))).toBe(false);
    await says("send me the report", "There you are.");
    expect(telegram.sentFiles).toEqual([{ name: "report.md", content: "# All is well\n" }]);
    expect(model.complaints).toEqual([]);
    gateway.kill("SIGTERM");
    await once(gateway, "exit");
    await model.close();
  }, 120_000);
});
