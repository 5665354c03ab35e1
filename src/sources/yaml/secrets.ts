import { namesSecret } from "../../policy/secrets.js";
import type { SecretAccess } from "../../tool/tool.js";
import { basicPair } from "./credentials.js";
import type { ToolHost } from "./tool-host.js";
import type { Auth, ToolSpec } from "./tool-spec.js";
import { looksSecret } from "./written-secret.js";

/** Tells the runtime which values must never be shown: what the files name as credentials. */
export function hideSecrets(
  specs: readonly ToolSpec[],
  { host, secrets }: { readonly host: ToolHost; readonly secrets: SecretAccess },
): void {
  const hide = (name: string, value: string | undefined) => {
    // Telling it again would cost a new search table for every result.
    if (value !== undefined && value !== "" && secrets.get(name) !== value) secrets.add(name, value);
  };
  const done = new Set<string>();
  for (const spec of specs) {
    const auths = spec.type === "http_wrapper" ? spec.auth : [];
    for (const auth of auths) hideAuth(auth, { host, hide, done });
    if (spec.type !== "command") continue;
    for (const [name, from] of spec.env) {
      const value = "env" in from ? host.variable(from.env) : undefined;
      // Programs are also given harmless ones (HOME, AWS_REGION), whose values may stand anywhere.
      if ("env" in from && value !== undefined && isSecret([name, from.env], value)) hide(from.env, value);
    }
  }
}

function isSecret(names: readonly string[], value: string): boolean {
  return names.some(namesSecret) || looksSecret(value);
}

function hideAuth(
  auth: Auth,
  to: {
    readonly host: ToolHost;
    readonly done: Set<string>;
    hide(name: string, value: string | undefined): void;
  },
): void {
  const key = JSON.stringify(auth);
  if (to.done.has(key)) return;
  to.done.add(key);
  const { variable } = to.host;
  switch (auth.type) {
    case "basic": {
      const [username, password] = [variable(auth.usernameEnv), variable(auth.passwordEnv)];
      to.hide(auth.passwordEnv, password);
      // Together they make another text, which an echo of the request would show.
      if (username && password) to.hide(`${auth.passwordEnv} (encoded)`, basicPair(username, password));
      return;
    }
    case "bearer":
      to.hide(auth.tokenEnv, variable(auth.tokenEnv));
      return;
    default:
      to.hide(auth.valueEnv, variable(auth.valueEnv));
  }
}
