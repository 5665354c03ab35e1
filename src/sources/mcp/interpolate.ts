import type { McpServerConfig } from "../../config/mcp-server.js";

/** A setting of the server names a variable that is not there. */
export class MissingVariable extends Error {
  readonly variable: string;
  constructor(variable: string, where: string) {
    super(`${where} uses \${${variable}}, which is not set`);
    this.name = "MissingVariable";
    this.variable = variable;
  }
}

type Variables = Readonly<Record<string, string | undefined>>;

/** `${NAME}` becomes the value of that variable; a name that is not set is an error that says so. */
export function interpolate(text: string, where: string, variables: Variables): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_whole, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) throw new MissingVariable(name, where);
    return value;
  });
}

/** The settings of a server with all variables filled in. */
export function interpolated(config: McpServerConfig, variables: Variables): McpServerConfig {
  const fill = (text: string, where: string) => interpolate(text, where, variables);
  const fillAll = (texts: Readonly<Record<string, string>>, where: string) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text, `${where}.${name}`)]));
  return {
    ...config,
    command: fill(config.command, "command"),
    args: config.args.map((arg, index) => fill(arg, `args[${index}]`)),
    env: fillAll(config.env, "env"),
    cwd: fill(config.cwd, "cwd"),
    url: fill(config.url, "url"),
    headers: fillAll(config.headers, "headers"),
    oauth_client_id: fill(config.oauth_client_id, "oauth_client_id"),
    oauth_client_secret: fill(config.oauth_client_secret, "oauth_client_secret"),
  };
}
