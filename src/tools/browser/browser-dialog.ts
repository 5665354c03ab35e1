import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { type ActionAnswer, actOnPage, presentAction } from "./action.js";
import { actsOnPage } from "./page-effects.js";

export default defineTool({
  name: "browser_dialog",
  toolset: "browser",
  emoji: "💬",
  description: "Answer the alert, confirm or prompt that stops the page.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["accept", "dismiss"] },
      prompt_text: { type: "string", description: "Answer to a prompt" },
    },
    required: ["action"],
    additionalProperties: false,
  },
  permissions: ["browser:act"],
  effects: (_args, scope) => [actsOnPage(scope)],
  needs: { packages: ["playwright-core"], browser: true },
  timeoutMs: 120_000,

  handler: ({ action, prompt_text }, ctx): Promise<ActionAnswer> =>
    actOnPage(
      ctx,
      async (tab, _session, say) => {
        const { dialog, interrupted } = tab;
        if (dialog === undefined)
          throw new ToolError("No dialog is open.", { hint: "Look at the page with browser_snapshot." });
        const done = `${action === "accept" ? "accepted" : "dismissed"} ${dialog.type} ${JSON.stringify(dialog.message)}`;
        await tab.answerDialog(action === "accept", prompt_text);
        // Another dialog may stop the page before the rest of this is through.
        say(done);
        // What the dialog had stopped goes on now; its own troubles are not this call's.
        await interrupted?.catch(() => undefined);
        return done;
      },
      { despiteDialog: true },
    ),

  untrustedSource: (_args, { url }) => url,
  present: presentAction,

  examples: [
    {
      title: "Say yes to a question of the page",
      pages: {
        "/": "<button onclick=\"if (confirm('Sure?')) document.title = 'Deleted'\">Delete</button>",
      },
      before: [
        { name: "browser_navigate", arguments: { url: "{server}/" } },
        { name: "browser_click", arguments: { ref: "e1" } },
      ],
      arguments: { action: "accept" },
      result: { success: true, done: 'accepted confirm "Sure?"', title: "Deleted" },
      programs: ["chromium"],
    },
  ],
});
