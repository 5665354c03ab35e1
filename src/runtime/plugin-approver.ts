import type { Approver } from "../call/scope.js";
import type { PluginContributions } from "../sources/plugins/source.js";

/**
 * The approver of a plugin. While the plugin is not there nobody can say yes: asking somebody else instead is not
 * what the person wrote down.
 */
export function approverOfPlugin(
  name: string,
  plugins: () => Pick<PluginContributions, "approver"> | undefined,
): Approver {
  /** As long as the same plugin brings it; one that was loaded anew brings its own. */
  let made: { readonly by: () => unknown; readonly approver: Promise<Approver> } | undefined;
  return {
    async ask(request, signal) {
      const make = plugins()?.approver(name);
      if (make === undefined) {
        const reason = `approvals.approver is ${name}, and no running plugin brings an approver of that name`;
        return { answer: "deny", by: "approvals.approver", reason };
      }
      const current = made?.by === make ? made : { by: make, approver: Promise.resolve(make()) };
      made = current;
      // One that could not be made may be made the next time.
      current.approver.catch(() => {
        if (made === current) made = undefined;
      });
      return (await current.approver).ask(request, signal);
    },
  };
}
