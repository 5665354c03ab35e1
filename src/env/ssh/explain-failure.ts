import { ToolError } from "../../tool/errors.js";

export interface FailedConnection {
  /** As in `user@host:port`. */
  readonly to: string;
  readonly program: string;
  /** What `ssh -v` said, without line ends. */
  readonly lines: readonly string[];
  readonly exitCode: number;
}

interface Explanation {
  readonly why: string;
  readonly hint: string;
}

type Rule = readonly [
  pattern: RegExp,
  explain: (failed: FailedConnection, match: RegExpExecArray) => Explanation,
];

const DEBUG_LINE = /^debug\d: /;
/** What `-v` adds at the beginning and at the end, and what is no reason for anything. */
const REMARK =
  /^(?:debug\d: |OpenSSH_|Authenticated to |Transferred: |Bytes per second: |Warning: Permanently added|\s*$)/;
const MAX_SHOWN_LINES = 5;

/** The first that matches any line; a changed key comes before the refusal that follows from it. */
const RULES: readonly Rule[] = [
  [/REMOTE HOST IDENTIFICATION HAS CHANGED/, changedKey],
  [
    /^No (\S+) host key is known for (.+?) and you have requested strict checking/,
    (_, [, type = "", host = ""]) => ({
      why: `the host is not known: no ${type} key of ${host} is recorded, and the policy is strict`,
      hint: `Compare the fingerprint with the one the host's owner gives you and record the key (ssh-keyscan ${host} >> known_hosts), or set the host key policy to accept-new.`,
    }),
  ],
  [
    /^Host key verification failed|host key .*revoked/i,
    (failed) => ({ why: `its host key was refused (${spoken(failed)})`, hint: "Check known_hosts." }),
  ],
  [
    /Could not resolve hostname (.+?): (.+)$/,
    (_, [, host = "", why = ""]) => ({
      why: `there is no host called ${host} (${why})`,
      hint: "Check the name, the ssh configuration and the network.",
    }),
  ],
  [
    /Connection refused$/,
    () => ({
      why: "nothing accepts connections there (connection refused)",
      hint: "Check the port, and that sshd is running.",
    }),
  ],
  [
    /timed out|Timeout, server/i,
    () => ({
      why: "it did not answer in time (timed out)",
      hint: "Check that the host is up and that no firewall is in between.",
    }),
  ],
  [
    /(No route to host|Network is unreachable|Host is down)/,
    (_, [, why = ""]) => ({ why: `it cannot be reached (${why})`, hint: "Check the network." }),
  ],
  [/Permission denied \((.*)\)|Too many authentication failures/, refusedLogin],
  [
    /Unable to negotiate .*: (no matching .*)$/,
    (_, [, why = ""]) => ({
      why: `both sides have no common method (${why})`,
      hint: "Allow one of the offered methods for this host in the ssh configuration, or update the server.",
    }),
  ],
  [
    /Bad (?:owner or permissions on|configuration option)|terminating, \d+ bad configuration/,
    (failed) => ({
      why: `the ssh configuration cannot be used (${spoken(failed)})`,
      hint: "Correct the named file.",
    }),
  ],
  [
    /(?:Connection (?:closed|reset) by|kex_exchange_identification)/,
    (failed) => ({
      why: `it closed the connection before the login (${spoken(failed)})`,
      hint: "Check that an ssh server answers at this port and that it lets this machine in; wait if it limits attempts.",
    }),
  ],
];

/** Why a connection could not be made, and what to do about it. */
export function explainFailure(failed: FailedConnection): ToolError {
  if (failed.exitCode === 127 || failed.exitCode === 126) return missingProgram(failed.program);
  for (const [pattern, explain] of RULES) {
    for (const line of failed.lines) {
      const match = pattern.exec(line.replace(DEBUG_LINE, ""));
      if (match !== null) return unavailable(failed.to, explain(failed, match));
    }
  }
  const hint = `Try the same by hand: ssh ${failed.to}`;
  return unavailable(failed.to, { why: spoken(failed) || `ssh ended with ${failed.exitCode}`, hint });
}

/** One line on why a connection that worked is gone. */
export function explainLoss(lines: readonly string[]): string {
  const said = lines.filter((line) => !REMARK.test(line)).slice(-2);
  return said.length === 0
    ? "the connection to the host ended"
    : `the connection was lost: ${said.join("; ").replace(/\.$/, "")}`;
}

function changedKey(failed: FailedConnection): Explanation {
  const shown = failed.lines.filter((line) => /^SHA256:|fingerprint for|Offending|key in .*:\d+/.test(line));
  return {
    why: `its host key is not the one recorded: either the host was set up anew, or somebody poses as it. ${shown.join(" ")}`,
    hint: `Ask the host's owner for the fingerprint. Only if it is the one shown here, remove the old key (ssh-keygen -R) and connect again. It is never accepted by itself.`,
  };
}

function refusedLogin(failed: FailedConnection, match: RegExpExecArray): Explanation {
  const methods = match[1] ?? "publickey";
  const offered = failed.lines.flatMap((line) => /Offering public key: (.+)$/.exec(line)?.[1] ?? []);
  const unusable = failed.lines.filter((line) =>
    /^Load key |UNPROTECTED PRIVATE KEY|not accessible/.test(line),
  );
  const tried = offered.length === 0 ? "no key could be offered" : `keys offered: ${offered.join("; ")}`;
  return {
    why: `the login was refused (${methods}); ${[tried, ...unusable].join("; ")}`,
    hint: "Put the public key into authorized_keys there, name the right key file, or load the key into the agent (ssh-add); a key with a passphrase works only through the agent. Passwords are never asked for.",
  };
}

/** What `ssh` itself said, without the details it adds for `-v`. */
function spoken(failed: FailedConnection): string {
  return failed.lines
    .filter((line) => !REMARK.test(line))
    .slice(-MAX_SHOWN_LINES)
    .join("; ");
}

function unavailable(to: string, { why, hint }: Explanation): ToolError {
  return new ToolError(`Cannot connect to ${to} over ssh: ${why}.`, { code: "unavailable", hint });
}

function missingProgram(program: string): ToolError {
  return new ToolError(`The program ${JSON.stringify(program)} is not installed or cannot be run.`, {
    code: "unavailable",
    hint: "Install the OpenSSH client (Debian: openssh-client), or name the program in the settings.",
  });
}
