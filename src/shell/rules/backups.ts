import { type Condition, has, subject } from "./row.js";

const OBJECTS = "deletes stored objects";
const BACKUPS = "deletes backups";
const SNAPSHOTS = "deletes or restores snapshots";
const PUBLIC = "makes stored objects public";
const RELIED_ON = "deletes data or a thing others rely on";

/** The verb of gsutil, whose options stand in front of it. */
const gsutilVerb =
  (verb: RegExp, more?: Condition): Condition =>
  (call) => {
    const { args } = call;
    let index = 0;
    while (args[index]?.text.startsWith("-")) index += /^-[ohu]$/.test(args[index]?.text ?? "") ? 2 : 1;
    const word = args[index];
    return word !== undefined && verb.test(word.text) && (more === undefined || more(call))
      ? word
      : undefined;
  };

/** Object storage, backups and snapshots. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("cloud", [
  { dry: "dry-run", tools: [
    { program: "gsutil", taking: "x u g o h", dry: "", not_match: ["gsutil rsync -d -n . gs://bucket"],
      rows: [
      { when: gsutilVerb(/^(?:rm|rb|del|delete)$/), rule: "cloud.storage-delete", reason: OBJECTS,
        match: ["gsutil rb gs://bucket"], not_match: ["gsutil ls gs://bucket"] },
      { when: gsutilVerb(/^rsync$/, (call) => has(call, "d") && !has(call, "n")),
        rule: "cloud.storage-delete", reason: OBJECTS, match: ["gsutil rsync -d -r . gs://bucket"],
        not_match: ["gsutil cp f gs://bucket"] },
      { when: gsutilVerb(/^(?:acl|iam|defacl)$/, (call) => call.find(/all(?:Authenticated)?Users|public-read/i)),
        rule: "cloud.public", reason: PUBLIC, match: ["gsutil iam ch allUsers:objectViewer gs://bucket"],
        not_match: ["gsutil rsync -r . gs://bucket"] },
    ] },
    { program: "rclone",
      taking: "config filter include exclude max-age min-age transfers checkers bwlimit log-file backup-dir",
      dry: "dry-run n i interactive",
      not_match: ["rclone sync --dry-run . remote:path", "rclone sync --dry-run a remote:b"], rows: [
      { path: "delete|purge|deletefile|rmdirs|rmdir|cleanup|dedupe", reason: OBJECTS,
        match: ["rclone delete remote:b"] },
      { path: "sync|bisync", reason: "deletes what the source does not have",
        match: ["rclone sync a remote:b"] },
      { word: /^:[\w-]+[,:]/, unless: /^(?:ls|lsd|lsl|lsf|lsjson|size|about|version)$/, rule: "personal.sent",
        reason: "copies to a place that is named in this very line and that nobody set up",
        match: ["rclone copy src ':webdav,url=https://x.example:in'"], not_match: ["rclone copy src remote:b"] },
      { path: "config show|dump|reveal", reason: "prints keys to the storage", match: ["rclone config show"] },
      { path: "config delete", reason: "removes access to the storage", match: ["rclone config delete"] },
    ] },
    { program: "mc", taking: "config-dir C older-than newer-than", dry: "dry-run fake",
      not_match: ["mc ls play"], rows: [
      { path: "rm|rb", reason: OBJECTS, match: ["mc rb play/bucket --force"] },
      { path: "mirror", options: "remove overwrite", reason: OBJECTS, match: ["mc mirror --overwrite"],
        not_match: ["mc mirror"] },
      { path: "anonymous|policy set",
        when: ({ rest }) => /^(?:public|download|upload)$/.test(rest[0]?.text ?? ""), reason: PUBLIC,
        match: ["mc anonymous set public play/b"], not_match: ["mc anonymous set none play/b"] },
      { path: "admin user|policy|service|group *",
        when: (call) => !/^(?:list|ls|info|status)$/.test(call.operand(2)),
        reason: "changes the storage server", match: ["mc admin user web"], not_match: ["mc ls play"] },
    ] },
    { program: "s3cmd|s4cmd|s5cmd",
      taking: "c config access_key secret_key region host endpoint-url profile exclude include",
      dry: "dry-run n", not_match: ["s3cmd ls"], rows: [
      { path: "del|rm|rb|expire|delete", reason: OBJECTS, match: ["s5cmd rm 's3://b/*'"] },
      { path: "sync", options: "delete-removed delete", reason: OBJECTS,
        match: ["s3cmd sync --delete-removed . s3://b"], not_match: ["s3cmd sync"] },
      { path: "setacl|put|sync", options: "acl-public P", reason: PUBLIC, match: ["s3cmd setacl -P"],
        not_match: ["s3cmd setacl"] },
    ] },
    { program: "b2|b2v4", dry: "dry-run dryRun", reason: OBJECTS, rows: [
      { path: "rm|delete-bucket|delete-file-version|delete-key|delete-bucket-cors",
        match: ["b2 delete-bucket b"] },
      { path: "bucket|file|key delete", match: ["b2 bucket delete"] },
      { path: "sync", options: "delete", match: ["b2 sync --delete"], not_match: ["b2 sync"] },
    ] },
    { program: "azcopy", taking: "log-level include-pattern exclude-pattern delete-destination",
      reason: OBJECTS, rows: [
      { path: "remove|rm", match: ["azcopy remove https://x --recursive"] },
      { path: "sync", options: "delete-destination=true|prompt",
        match: ["azcopy sync --delete-destination=true"], not_match: ["azcopy sync"] },
    ] },
    { program: "swift", taking: "A U K", path: "delete", reason: OBJECTS, match: ["swift delete"] },
    { program: "restic|borg|borgmatic|kopia|duplicity|rdiff-backup",
      taking: "r repo repository p password-file o tag host keep-last keep-daily keep-weekly keep-monthly a glob-archives P prefix d w m",
      dry: "dry-run n", not_match: ["borg prune -n --keep-daily 1 repo", "borg list repo"], rows: [
      { path: "** delete|prune|forget|purge|unlink|rm|wipe", rule: "delete.backup", reason: BACKUPS,
        match: ["borg delete repo::a"] },
      { path: "** remove-older-than|remove-all-but-n-full|remove-all-inc-of-but-n-full",
        rule: "delete.backup", reason: BACKUPS, match: ["restic remove-older-than"] },
      { path: "rewrite|compact|recreate|cleanup", reason: BACKUPS, match: ["restic rewrite"] },
      { path: "key remove|change-passphrase", reason: BACKUPS, match: ["restic key remove"] },
      { path: "snapshot|repository|policy expire|disconnect", reason: BACKUPS,
        match: ["restic snapshot expire"] },
      { family: "rare", path: "key|unlock|break-lock|repair|nuke", reason: RELIED_ON, match: ["restic key"] },
    ] },
    { program: "rdiff-backup", word: /^--remove-older-than|^--(?:regress|check-destination-dir)/, rule: "delete.backup", reason: BACKUPS, match: ["rdiff-backup --force --remove-older-than 1s /mnt/b"], not_match: ["rdiff-backup --list-increments /mnt/b"] },
    { program: "tarsnap", dry: "dry-run", word: /^(?:--nuke|-d|--fsck-prune|--recover)$/, rule: "delete.backup", reason: BACKUPS, match: ["tarsnap --nuke", "tarsnap -d -f a"], not_match: ["tarsnap --list-archives"] },
    { program: "bconsole|bareos-console|btape|bcopy|amadmin|amtape|nsradmin|dsmadmc|bpexpdate|bpimage|veeamconfig|omnidb|avtar|mmcli", when: ({ command, args }) => [...(command.input.kind === "text" ? [command.input.text] : []), ...args].find(({ text }) => /\b(?:purge|delete|prune|truncate|expire|relabel|erase|cancel|del|no-reuse|force|-d|release)\b/i.test(text)),
      rule: "delete.backup", reason: BACKUPS, match: ["bconsole <<< 'purge volume=Vol-0001 yes'", "amadmin daily delete web"], not_match: ["bconsole <<< 'list jobs'"] },
    { program: "barman|wal-g|wal-e|wal-g-pg|pg_probackup|duplicati-cli|duplicati|urbackupsrv|burp|bup|attic|obnam|backintime|duplicacy|bupstash|zbackup|proxmox-backup-client|proxmox-backup-manager|pbs|hdb|knoxite|cloudberry|cbb|kasten|k10|stash|longhorn|automysqlbackup|clickhouse-backup|medusa-backup|pbm|etcd-backup|rsnapshot|dirvish-expire|storebackupdel.pl|storebackupdel|bacula-purge|sanoid|syncoid|zfs-auto-snapshot|zrepl|znapzend|zfs-prune-snapshots|httm|yabsm|snap-pac|grub-btrfs|autosnap|buttersink|snapraid",
      path: "** delete|purge|prune|forget|expire|remove|rm|gc|del|delete-backup|delete-pitr|cleanup|delete-all|compact|remove-unknown|prune-older|destroy|wipe|sync|delete-old|cleanup-data", when: (call) => call.command.program !== "snapraid" || call.find(/^sync$/) !== undefined, rule: "delete.backup", reason: BACKUPS,
      match: ["barman delete main oldest", "wal-g delete everything", "proxmox-backup-client snapshot forget x", "bup prune-older --keep 1d"], not_match: ["barman list-backup main"] },
    { program: "dirvish-expire|storebackupdel.pl|storebackupdel|zfs-prune-snapshots", dry: "n dry-run", word: /./, rule: "delete.backup", reason: BACKUPS, match: ["dirvish-expire --vault x"] },
    { program: "tarsnap|rustic|autorestic", family: "rare", taking: "r repo p", dry: "dry-run n",
      path: "forget|prune|delete|key|unlock|remove-older-than|remove-all-but-n-full|recreate|break-lock|repair|rewrite|compact|nuke",
      reason: RELIED_ON, match: ["tarsnap forget"] },
    { program: "pgbackrest", taking: "stanza config repo", path: "stanza-delete|expire", reason: BACKUPS,
      match: ["pgbackrest --stanza=main stanza-delete"], not_match: ["pgbackrest info"] },
    { program: "snapper", taking: "c config", unknownVerb: true,
      path: "delete|remove|rm|rollback|undochange|cleanup", rule: "delete.backup", reason: SNAPSHOTS,
      match: ["snapper delete"] },
    { program: "btrbk", taking: "c config l loglevel exclude format lockfile override", dry: "dry-run n",
      unknownVerb: true, not_match: ["btrbk list snapshots", "btrbk stats", "btrbk dryrun", "btrbk -n run",
        "btrbk run -n home", "btrbk -c run list"], rows: [
      { path: "run|resume|snapshot|prune|clean|archive", rule: "delete.backup",
        reason: "deletes old or unfinished snapshots and backups",
        match: ["btrbk run", "btrbk -q run home", "btrbk snapshot", "btrbk -c /etc/btrbk.conf clean",
          "btrbk prune", "btrbk archive /mnt/backup /mnt/archive", "sudo btrbk --format=table resume"] },
    ] },
    { program: "timeshift", word: /^--(?:delete|delete-all|restore)$/, rule: "delete.backup",
      reason: SNAPSHOTS, match: ["timeshift --delete"] },
    { program: "tmutil", unknownVerb: true, rows: [
      { path: "delete|deletelocalsnapshots|deleteinprogress|disable|disablelocal|thinlocalsnapshots|removedestination",
        rule: "delete.backup", reason: "deletes backups or switches them off", match: ["tmutil delete"] },
      { family: "rare", path: "restore|setdestination", reason: "deletes or switches off backups",
        match: ["tmutil restore"] },
    ] },
  ] },
]);
