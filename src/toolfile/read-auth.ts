import type { ConfigNode } from "../config/node.js";
import { Section } from "./section.js";
import type { Auth } from "./tool-spec.js";
import { variableName } from "./written-secret.js";

const TYPES = ["basic", "bearer", "header", "query"] as const;
const BY_NAME = "secrets are never written into the file: give the name of an environment variable";
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** One way to prove who is asking, or a list of ways that are all used. */
export function readAuth(tool: Section): readonly Auth[] {
  const node = tool.get("auth");
  if (node === undefined) return [];
  const items: readonly ConfigNode[] = node.kind === "list" ? node.items : [node];
  return items.flatMap((item) => {
    if (item.kind !== "map") {
      tool.wrong(
        item,
        `"auth" of ${tool.what} must be a section`,
        "for example: auth: { type: bearer, token_env: MY_TOKEN }",
      );
      return [];
    }
    const auth = readOne(new Section({ node: item, what: `auth of ${tool.what}`, problems: tool.problems }));
    return auth === undefined ? [] : [auth];
  });
}

function readOne(section: Section): Auth | undefined {
  const type = section.choice("type", TYPES, { required: true });
  switch (type) {
    case "basic": {
      const usernameEnv = variableName(section, "username_env");
      const passwordEnv = variableName(section, "password_env");
      finish(section, { username: "username_env", password: "password_env" });
      if (usernameEnv === undefined || passwordEnv === undefined) return undefined;
      return { type, usernameEnv, passwordEnv };
    }
    case "bearer": {
      const tokenEnv = variableName(section, "token_env");
      finish(section, { token: "token_env" });
      return tokenEnv === undefined ? undefined : { type, tokenEnv };
    }
    case "header": {
      const name = section.text("name", { required: true });
      const valueEnv = variableName(section, "value_env");
      const prefix = section.text("prefix") ?? "";
      finish(section, { value: "value_env", token: "value_env", token_env: "value_env" });
      if (name !== undefined && !HEADER_NAME.test(name))
        section.wrong(section.get("name"), `${JSON.stringify(name)} cannot be the name of a header`);
      return name === undefined || valueEnv === undefined ? undefined : { type, name, valueEnv, prefix };
    }
    case "query": {
      const name = section.text("name", { required: true });
      const valueEnv = variableName(section, "value_env");
      finish(section, { value: "value_env", token: "value_env", token_env: "value_env" });
      return name === undefined || valueEnv === undefined ? undefined : { type, name, valueEnv };
    }
    default:
      return undefined;
  }
}

function finish(section: Section, meant: Readonly<Record<string, string>>): void {
  section.finish(
    Object.fromEntries(Object.entries(meant).map(([key, instead]) => [key, `use ${instead}; ${BY_NAME}`])),
  );
}

/** Every environment variable that must be set. */
export function variablesOf(auth: readonly Auth[]): readonly string[] {
  return auth.flatMap((one) => {
    switch (one.type) {
      case "basic":
        return [one.usernameEnv, one.passwordEnv];
      case "bearer":
        return [one.tokenEnv];
      default:
        return [one.valueEnv];
    }
  });
}
