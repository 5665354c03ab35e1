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
  const made = new WeakMap<() => unknown, Promise<Approver>>();
  return {
    async ask(request, signal) {
      const make = plugins()?.approver(name);
      if (make === undefined) {
        const reason = `approvals.approver is ${name}, and no running plugin brings an approver of that name`;
        return { answer: "deny", by: "approvals.approver", reason };
      }
      let approver = made.get(make);
      if (approver === undefined) {
        approver = Promise.resolve(make());
        made.set(make, approver);
        // One that could not be made may be made the next time.
        approver.catch(() => made.delete(make));
      }
      return (await approver).ask(request, signal);
    },
  };
}
