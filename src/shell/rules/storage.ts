import { parseOptions } from "../read/options.js";
import type { Rule } from "../types.js";
import { danger, forPrograms, has, valuesOf, verbRule } from "./verb-table.js";

const DELETES = "deletes stored objects";
const FORGETS = "deletes backups";
const PUBLIC = "makes stored objects public";

const gsutil: Rule = (command) => {
  const { args } = command;
  let index = 0;
  while (args[index]?.text.startsWith("-")) index += /^-[ohu]$/.test(args[index]?.text ?? "") ? 2 : 1;
  const verb = args[index];
  const rest = args.slice(index + 1);
  const options = parseOptions(rest, { taking: ["x", "u", "g"] });
  if (verb === undefined) return undefined;
  if (/^(?:rm|rb|del|delete)$/.test(verb.text)) return danger("cloud.storage-delete", DELETES, verb);
  if (verb.text === "rsync" && has(options, "d") && !has(options, "n"))
    return danger("cloud.storage-delete", DELETES, verb);
  if (
    /^(?:acl|iam|defacl)$/.test(verb.text) &&
    rest.some(({ text }) => /all(?:Authenticated)?Users|public-read/i.test(text))
  )
    return danger("cloud.public", PUBLIC, verb);
  return undefined;
};

const rclone = verbRule({
  family: "cloud",
  taking:
    "config filter include exclude max-age min-age transfers checkers bwlimit log-file backup-dir".split(" "),
  dry: ["n", "dry-run", "i", "interactive"],
  verbs: [
    { path: "delete|purge|deletefile|rmdirs|rmdir|cleanup|dedupe", reason: DELETES },
    { path: "sync|bisync", reason: "deletes what the source does not have" },
    { path: "config show|dump|reveal", reason: "prints keys to the storage" },
    { path: "config delete", reason: "removes access to the storage" },
  ],
});

const borg = verbRule({
  family: "cloud",
  taking: ["a", "glob-archives", "P", "prefix", "keep-daily", "keep-weekly", "keep-monthly", "d", "w", "m"],
  dry: ["n", "dry-run"],
  verbs: [
    { path: "delete|prune|compact|recreate", reason: FORGETS },
    { path: "key change-passphrase", reason: FORGETS },
  ],
});

/** Object storage and backup programs. */
export const STORAGE: Readonly<Record<string, Rule>> = {
  gsutil,
  rclone,
  mc: verbRule({
    family: "cloud",
    taking: ["config-dir", "C", "older-than", "newer-than"],
    dry: ["dry-run", "fake"],
    verbs: [
      { path: "rm|rb", reason: DELETES },
      { path: "mirror", reason: DELETES, when: (call) => has(call, "remove", "overwrite") },
      {
        path: "anonymous|policy set",
        reason: PUBLIC,
        when: ({ rest }) => /^(?:public|download|upload)$/.test(rest[0]?.text ?? ""),
      },
      {
        path: "admin user|policy|service|group *",
        reason: "changes the storage server",
        when: ({ operands }) => !/^(?:list|ls|info|status)$/.test(operands[2]?.text ?? ""),
      },
    ],
  }),
  ...forPrograms(
    ["s3cmd", "s4cmd", "s5cmd"],
    verbRule({
      family: "cloud",
      taking: [
        "c",
        "config",
        "access_key",
        "secret_key",
        "region",
        "host",
        "endpoint-url",
        "profile",
        "exclude",
        "include",
      ],
      dry: ["n", "dry-run"],
      verbs: [
        { path: "del|rm|rb|expire|delete", reason: DELETES },
        { path: "sync", reason: DELETES, when: (call) => has(call, "delete-removed", "delete") },
        { path: "setacl|put|sync", reason: PUBLIC, when: (call) => has(call, "acl-public", "P") },
      ],
    }),
  ),
  ...forPrograms(
    ["b2", "b2v4"],
    verbRule({
      family: "cloud",
      dry: ["dryRun", "dry-run"],
      verbs: [
        { path: "rm|delete-bucket|delete-file-version|delete-key|delete-bucket-cors", reason: DELETES },
        { path: "bucket|file|key delete", reason: DELETES },
        { path: "sync", reason: DELETES, when: (call) => has(call, "delete") },
      ],
    }),
  ),
  azcopy: verbRule({
    family: "cloud",
    taking: ["log-level", "include-pattern", "exclude-pattern"],
    dry: ["dry-run"],
    verbs: [
      { path: "remove|rm", reason: DELETES },
      {
        path: "sync",
        reason: DELETES,
        when: (call) =>
          valuesOf(call, "delete-destination").some(({ text }) => text === "true" || text === "prompt"),
      },
    ],
  }),
  swift: verbRule({ family: "cloud", taking: ["A", "U", "K"], verbs: [{ path: "delete", reason: DELETES }] }),
  restic: verbRule({
    family: "cloud",
    taking: ["r", "repo", "p", "password-file", "tag", "host", "keep-last", "keep-daily"],
    dry: ["n", "dry-run"],
    verbs: [
      { path: "forget|prune|rewrite", reason: FORGETS },
      { path: "key remove", reason: FORGETS },
    ],
  }),
  borg,
  borgmatic: borg,
  kopia: verbRule({
    family: "cloud",
    verbs: [{ path: "snapshot|repository|policy delete|expire|disconnect", reason: FORGETS }],
  }),
  duplicity: verbRule({
    family: "cloud",
    dry: ["dry-run"],
    verbs: [
      {
        path: "remove-older-than|remove-all-but-n-full|remove-all-inc-of-but-n-full|cleanup",
        reason: FORGETS,
      },
    ],
  }),
};
