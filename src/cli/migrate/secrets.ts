import { join } from "node:path";
import { brokenDotenvLines, isForbiddenInDotenv, parseDotenv } from "../../config/dotenv.js";
import { writeSecret } from "../../config/edit.js";
import { hermesPaths } from "../../config/paths.js";
import { readSource, reasonOf } from "./read-source.js";
import { checked, type Tree, valueAt } from "./settings.js";
import { failed, type Homes, kept, migrated, type Step, skipped } from "./step.js";

/** The `.env` of both homes; values are never told. */
export async function planSecrets({ from, home }: Homes, theirs: Tree): Promise<Step[]> {
  let text: string;
  try {
    text = (await readSource(join(from, ".env"))) ?? "";
  } catch (error) {
    return [failed({ kind: "secret", name: ".env", reason: reasonOf(error) })];
  }
  const found = parseDotenv(text);
  const unread = brokenDotenvLines(text).map((line) =>
    failed({ kind: "secret", name: `.env, line ${line}`, reason: "it is no NAME=value" }),
  );
  const here = parseDotenv((await readSource(hermesPaths(home).dotenv)) ?? "");
  const apiKey = valueAt(theirs, "model.api_key");
  const written = typeof apiKey === "string" ? apiKey : "";
  const onlyNamed = written.includes("${");
  const born: Born[] = [
    ...(written !== "" && !onlyNamed
      ? [{ name: "model.api_key", to: "HERMES_MODEL_API_KEY", value: written }]
      : []),
    ...mailboxOf(found),
  ];
  const plain = Object.entries(found).flatMap(([name, value = ""]): Step[] => {
    if (value.trim() === "" || born.some((one) => one.name.split(" ").includes(name))) return [];
    const item = { kind: "secret", name } as const;
    const leave = whyLeft(name);
    if (leave !== undefined) return [skipped({ ...item, reason: leave })];
    return [write({ name, to: name, value }, { home, here })];
  });
  const named = `it only names ${written}: here a key is found by its provider's own name, or set with hermes config set model.api_key`;
  return [
    ...unread,
    ...plain,
    ...born.map((one) => write(one, { home, here })),
    ...(onlyNamed ? [skipped({ kind: "secret", name: "model.api_key", reason: named })] : []),
  ];
}

/** A secret that is written otherwise there; `name` names all it is made of. */
interface Born {
  readonly name: string;
  readonly to: string;
  readonly value: string;
}

function write(
  { name, to, value }: Born,
  { home, here }: { readonly home: string; readonly here: Readonly<Record<string, string | undefined>> },
): Step {
  const item = { kind: "secret", name, ...(to !== name && { to }) } as const;
  const written = here[to];
  if (written !== undefined)
    return kept({
      ...item,
      reason: written === value ? "it is here already" : "another value is here, which stays",
    });
  return migrated(item, async () => checked(await writeSecret({ home, name: to, value })));
}

function whyLeft(name: string): string | undefined {
  if (/ALLOW_ALL_USERS$/.test(name)) return "it lets everybody in; name people with gateways.*.allowed_users";
  if (name === "GATEWAY_ALLOWED_USERS")
    return "here each platform has its own list: hermes config set gateways.telegram.allowed_users …";
  if (name === "SUDO_PASSWORD")
    return "nothing here types passwords; allow single commands in sudoers instead";
  if (name.startsWith("HERMES_")) return "a setting of the other program, no secret";
  if (isForbiddenInDotenv(name)) return ".env may not set it here; set it in the environment of the process";
  return undefined;
}

/** The mail gateway has one address with everything in it here. */
function mailboxOf(env: Readonly<Record<string, string | undefined>>): readonly Born[] {
  const { EMAIL_ADDRESS: address = "", EMAIL_PASSWORD: password = "" } = env;
  if (address === "" || password === "") return [];
  const login = `${encodeURIComponent(address)}:${encodeURIComponent(password)}`;
  const of = (given: { name: string; to: string; scheme: string; port: string }): readonly Born[] => {
    const host = env[`EMAIL_${given.name}_HOST`] ?? "";
    if (host === "") return [];
    const port = env[`EMAIL_${given.name}_PORT`] ?? given.port;
    const name = `EMAIL_ADDRESS EMAIL_PASSWORD EMAIL_${given.name}_HOST EMAIL_${given.name}_PORT`;
    return [{ name, to: given.to, value: `${given.scheme}://${login}@${host}:${port}` }];
  };
  const users = env.EMAIL_ALLOWED_USERS ?? "";
  return [
    ...of({ name: "IMAP", to: "HERMES_GATEWAYS_EMAIL_IMAP_URL", scheme: "imaps", port: "993" }),
    ...of({ name: "SMTP", to: "HERMES_GATEWAYS_EMAIL_SMTP_URL", scheme: "smtp", port: "587" }),
    ...(users === ""
      ? []
      : [{ name: "EMAIL_ALLOWED_USERS", to: "HERMES_GATEWAYS_EMAIL_ALLOWED_USERS", value: users }]),
  ];
}
