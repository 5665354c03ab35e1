/** Says that a person has to log in first. Its name is the one by which the SDK tells such errors apart. */
export class LoginNeeded extends Error {
  readonly server: string;
  readonly hint: string;

  constructor(server: string, why: string) {
    super(why);
    // The SDK hands errors of this name on as they are, instead of trying an older protocol.
    this.name = "UnauthorizedError";
    this.server = server;
    this.hint = `Run "hermes mcp login ${server}".`;
  }
}

/** The server wants more rights than the person was willing or able to give. */
export class ScopeRefused extends Error {
  constructor(server: string, scope: string) {
    super(`${server} asks for the scope ${JSON.stringify(scope)} again, although the login asked for it`);
    this.name = "ScopeRefused";
  }
}
