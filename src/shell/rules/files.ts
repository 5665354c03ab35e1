import { type ShellWord, type SimpleCommand, UNKNOWN } from "../types.js";
import { producersOf, producersOfWord } from "./flows.js";
import {
  couldBeRoot,
  isCredentialStore,
  isDisk,
  isDownloadPlace,
  isGitHook,
  isHermesOwn,
  isHistoryFile,
  isHomeLike,
  isSomeonesHome,
  isStartupFile,
  isSystemLog,
  isSystemPath,
  isVital,
} from "./places.js";
import { type Call, type Condition, names, type Row, subject } from "./row.js";
import { isOrdinary, placeOf, takesEverything } from "./segments.js";
import {
  emptiedByRedirect,
  emptiesItself,
  overwritesLog,
  printsNothingInPlace,
  replacedByNothing,
  shrinks,
} from "./truncation.js";
import { writesByArchive } from "./unpacked-files.js";
import { writesOf } from "./writes.js";

const WHOLE = "deletes the root, a home or a system folder with everything in it";
const FOLDER = "deletes a folder with everything in it";
const LISTED = "deletes every file that another command lists";
const FOUND = "deletes every file a search finds";
const EVERYTHING = "deletes every file of a folder";
const ARCHIVED = "deletes the files it has put into the archive";
const EMPTIES = "empties a file, its content is gone";
const OVERWRITES = "writes over a disk, the files on it are gone";
const HISTORY = "erases or hides what was typed before";
const HIDDEN = "runs a program named in an option";

/** Trees other people and programs keep their data in. */
const KEPT = names("srv opt var mnt media backup backups volumes");
const LISTERS = names("xargs parallel gxargs rush");

const isRecursive = (call: Call): boolean => call.has("r", "R", "recursive");

/** A target of `rm -r`. */
const recursively =
  (find: (call: Call) => ReturnType<Condition>): Condition =>
  (call) =>
    isRecursive(call) ? find(call) : undefined;

/** Files made by the agent itself to check its work. */
function isOwnTemporary(word: ShellWord): boolean {
  const name = placeOf(word).segments.at(-1) ?? "";
  return word.known && isDownloadPlace(word) && /^hermes-verify-[\w.-]+$/.test(name);
}

/** A target of a removal file by file: harmless for a plain file, not for many nobody listed or for precious ones. */
const removed =
  (isTarget: (word: ShellWord) => boolean): Condition =>
  (call) => {
    if (isRecursive(call) || (call.has("i") && !call.has("f"))) return undefined;
    return call.operands.find((word) => !isOrdinary(word) && isTarget(word));
  };

const removesListed: Condition = (call) => {
  const { repeated, wrappers } = call.command;
  if (isRecursive(call) || (call.has("i") && !call.has("f"))) return undefined;
  const listed = wrappers.some(({ program }) => LISTERS.has(program));
  if (repeated || listed) {
    const unlisted = call.operands.find((word) => listed || !word.known || /[*?[]/.test(word.text));
    if (unlisted !== undefined) return unlisted;
  }
  return call.operands.find((word) => !isOrdinary(word) && isListedByCommand(word));
};

/** Programs that print one name each, not a list of what they found. */
const NAMING = names(
  "mktemp date pwd basename dirname hostname whoami id uname echo printf realpath readlink cut tr nproc seq uuidgen",
);

function printsOneName({ program, args }: SimpleCommand): boolean {
  if (program === "git")
    return args.some(({ text }) => /^(?:rev-parse|describe|symbolic-ref|config)$/.test(text));
  return NAMING.has(program);
}

/** True when a piece of the word is a list another command printed: `$(find …)`, but not `$(date +%F)`. */
function isListedByCommand(word: ShellWord): boolean {
  return !word.known && (word.outputs ?? []).some((command) => !printsOneName(command));
}

function isOutside(word: ShellWord): boolean {
  const { anchor, segments } = placeOf(word);
  return (
    anchor === "root" && !isDownloadPlace(word) && (KEPT.has(segments[0] ?? "") || segments.length === 1)
  );
}

/** Part of a repository that no other part can replace; locks and notes of what goes on can be. */
function isGitRecord({ text }: ShellWord): boolean {
  return (
    /(?:^|\/)\.git\/(?:(?:refs|objects|logs)(?:\/.*)?|packed-refs|HEAD|config)$/s.test(text) &&
    !/\.lock$/.test(text)
  );
}

function isEverything(word: ShellWord): boolean {
  return word.glob && takesEverything(placeOf(word).segments.at(-1) ?? "");
}

// biome-ignore format: a table; what belongs to a row stands together
const REMOVALS: readonly Row[] = [
  { when: removesListed, rule: "delete.listed", reason: LISTED,
    match: ['for f in *.tmp; do rm -f "$f"; done'], not_match: ["rm *.o"] },
  { when: removed(isEverything), rule: "delete.everything", reason: EVERYTHING, match: ["rm *"],
    not_match: ["rm -i *"] },
  { when: removed((word) => isVital(word) || isSystemPath(word) || isSystemLog(word)), rule: "delete.system",
    reason: "deletes files of the operating system", match: ["rm /"], not_match: ["rm -- -rf"] },
  { when: removed(isOutside), rule: "delete.root-path",
    reason: "deletes files outside the project and the home", match: ["rm /swapfile"],
    not_match: ["rm --help"] },
  { when: removed(isCredentialStore), rule: "delete.credentials", reason: "deletes keys or tokens",
    match: ["rm ~/.ssh/id_rsa"], not_match: ["rm -I a b"] },
  { when: removed(isStartupFile), rule: "delete.startup",
    reason: "deletes a file that a shell or desktop starts with", match: ["rm ~/.bashrc"],
    not_match: ["rm old.csv"] },
  { when: removed(isGitRecord), rule: "git.delete-record", reason: "deletes what the repository knows of its branches and commits",
    match: ["rm -f .git/packed-refs", "rm .git/refs/heads/main", "rm a/.git/HEAD"], not_match: ["rm -f .git/index.lock", "rm .git/MERGE_HEAD", "rm .git/refs/heads/main.lock", "rm -f .git/gc.pid"] },
  { when: removed((word) => isGitHook(word) || isHermesOwn(word)), rule: "delete.guard",
    reason: "deletes hooks or rules that guard the work", match: ["rm .git/hooks/pre-commit"],
    not_match: ["rm 'r -rf'"] },
];

const FIND_FILTERS =
  /^-(?:i?name|i?path|i?wholename|i?regex|[acm](?:time|min)|newer\w*|a?newer|size|empty|user|group|uid|gid|perm|inum|samefile|links|nouser|nogroup|fstype)$/;
/** Tests and actions whose next word is data, even when it looks like an action: `-name '-delete'`. */
const FIND_TAKES =
  /^-(?:i?name|i?path|i?wholename|i?lname|i?regex|regextype|[acm](?:time|min)|newer\w*|anewer|cnewer|size|user|group|uid|gid|perm|inum|samefile|links|fstype|type|xtype|maxdepth|mindepth|used|printf|fprintf?|fprint0|fls|context)$/;
const DELETERS = names("rm unlink shred srm wipe rmdir truncate rimraf trash-empty");

const isDeleter = (word: ShellWord | undefined): boolean =>
  DELETERS.has((word?.text.split("/").at(-1) ?? "").toLowerCase());

/** The action of `find` that deletes. */
const findsAndDeletes = ({ args }: Call): ShellWord | undefined =>
  args.find(
    ({ text }, index) =>
      (text === "-delete" && !FIND_TAKES.test(args[index - 1]?.text ?? "")) ||
      (/^-(?:exec|execdir|ok|okdir)$/.test(text) && isDeleter(args[index + 1])),
  );

/** A place where everything is deleted, since nothing narrows the search. */
const findsEverythingIn: Condition = (call) => {
  const { args } = call;
  if (findsAndDeletes(call) === undefined) return undefined;
  const filtered = args.some(
    ({ text }, index) => FIND_FILTERS.test(text) && !takesEverything(args[index + 1]?.text ?? ""),
  );
  const start = args.findIndex(({ text }) => /^(?:-[a-zA-Z]{2,}|[(!)])/.test(text));
  const places = args.slice(0, start < 0 ? args.length : start).filter(({ text }) => !text.startsWith("-"));
  return filtered ? undefined : places.find(isVital);
};

const LISTS = names("find gfind fd fdfind grep egrep rg ag ack ls locate git tree");

/** `grep -rl x ~ | xargs sed -i …`, `sed -i … $(find ~ …)`: the same by way of a list. */
const changesWhatIsListed: Condition = ({ command }) => {
  const { args, program } = command;
  const inPlace = args.some(({ text }) => /^-[a-zA-Z]*i|^--in-place/.test(text));
  if (/^(?:sed|gsed|perl|ruby)$/.test(program) && !inPlace) return undefined;
  const listed = command.wrappers.some((wrapper) => LISTERS.has(wrapper.program));
  const lists = [...(listed ? producersOf(command) : []), ...args.flatMap(producersOfWord)];
  for (const each of lists) {
    const place = LISTS.has(each.program)
      ? each.args.find((word) => isVital(word) || isHomeLike(word) || isSomeonesHome(word))
      : undefined;
    if (place !== undefined) return place;
  }
  return undefined;
};

/** `find ~ … -exec sed -i …`: nobody sees which files are meant, in a home or on the whole machine. */
const changesWhatItFinds: Condition = (call) => {
  const { args } = call;
  const at = args.findIndex(({ text }) => /^-(?:exec|execdir|ok|okdir)$/.test(text));
  const program = (args[at + 1]?.text.split("/").at(-1) ?? "").toLowerCase();
  if (at < 0 || !CHANGERS.has(program)) return undefined;
  const inPlace = args.slice(at + 2).some(({ text }) => /^-[a-zA-Z]*i|^--in-place/.test(text));
  if (/^(?:sed|gsed|perl|ruby)$/.test(program) && !inPlace) return undefined;
  const start = args.findIndex(({ text }) => /^(?:-[a-zA-Z]{2,}|[(!)])/.test(text));
  return args.slice(0, start < 0 ? at : start).find((word) => isVital(word) || isSomeonesHome(word));
};
const CHANGERS = names(
  "sed gsed perl ruby install cp mv ln tee dd rsync touch chmod chown chattr setfacl patch truncate gzip gpg openssl",
);

/** Moving a thing to `/dev/null` takes it from the world. */
const movesToNothing: Condition = ({ command }) =>
  writesOf(command).find(({ word }) => {
    const { anchor, segments } = placeOf(word);
    return anchor === "root" && segments[0] === "dev" && segments[1] === "null";
  })?.word;

const moved =
  (isSource: (word: ShellWord) => boolean): Condition =>
  (call) =>
    (call.has("t", "target-directory") ? call.operands : call.operands.slice(0, -1)).find(isSource);

/** In a loop, onto a name that is the same each time and that of no folder. */
const movesOntoOne: Condition = (call) => {
  const [from, to, ...others] = call.operands;
  if (!call.command.repeated || from === undefined || to === undefined || others.length > 0) return undefined;
  const isSafe = call.has("n", "no-clobber", "i", "interactive", "b", "backup", "t", "target-directory");
  return !isSafe &&
    (!from.known || /[*?[]/.test(from.text)) &&
    to.known &&
    !/[*?[]/.test(to.text) &&
    /[^/.]\.[a-z]\w{0,5}$/i.test(to.text)
    ? to
    : undefined;
};

/** `ls -A ~ | xargs -I{} mv ~/{} x`: each thing of a home by its name. */
function isEachOfHome(word: ShellWord): boolean {
  const { anchor, segments } = placeOf(word);
  return anchor === "home" && segments.length === 1 && segments[0] === UNKNOWN;
}

const isNeeded = (word: ShellWord): boolean =>
  isVital(word) ||
  isEachOfHome(word) ||
  isHomeLike(word) ||
  isSomeonesHome(word) ||
  isSystemPath(word) ||
  isSystemLog(word) ||
  isCredentialStore(word);

const SED_RUNS = /(?:^|[;{}\n])[ \t]*(?:\d+|\$)?[ \t]*e(?:[ \t]+\S|$)/;
/** The `e` among the flags of `s/…/…/`. */
const SED_RUNS_MATCH = /[/|#,@][gpIiMm\d]*e[gpIiMm\d]*(?:$|[;}\n])/;

const sedRuns: Condition = ({ args, operands }) => {
  const inline = args.filter((_, index) =>
    /^(?:-[nErsuz]*e|--expression)$/.test(args[index - 1]?.text ?? ""),
  );
  return (inline.length > 0 ? inline : operands.slice(0, 1)).find(
    ({ text }) => SED_RUNS.test(text) || (SED_RUNS_MATCH.test(text) && /(?:^|[;{}\s\d$])s[/|#,@]/.test(text)),
  );
};

/** `rsync --delete src/ build/src/`: below a folder of the project that a build makes anew from the very source. */
function mirrorsIntoBuild(operands: readonly ShellWord[]): boolean {
  const [source, target, ...others] = operands;
  if (source === undefined || target === undefined || others.length > 0 || !source.known || !target.known)
    return false;
  return (
    /^(?:\.\/)?(?:build|dist|out)\/[\w.-]/.test(target.text) &&
    !target.text.includes("..") &&
    /^(?:\.\/)?(?:src|lib|public|assets|static)\//.test(source.text)
  );
}

/** Deleting, moving, emptying and packing files. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("files", [
  { program: "rm|grm",
    long: "recursive force interactive dir verbose one-file-system no-preserve-root preserve-root", dry: "",
    not_match: ["rm --help", "rm -I a b"], rows: [
    { when: recursively(({ operands }) => operands.find(isVital)), level: "hardline",
      rule: "recursive-delete.root", reason: WHOLE, match: ["rm -rf /"], not_match: ["rm *.o"] },
    { options: "no-preserve-root", when: recursively(({ operands }) =>
          operands.every((word) => couldBeRoot(word) || !word.known) ? {} : undefined,
        ),
      level: "hardline", rule: "recursive-delete.unprotected",
      reason: "deletes with the protection of the root folder switched off",
      match: ["rm -rf --no-preserve-root $TARGET"], not_match: ["rm -i *"] },
    { when: recursively(({ operands }) =>
          operands.length > 0 && operands.every(isOwnTemporary) ? undefined : { word: operands[0] },
        ),
      rule: "recursive-delete.folder", reason: FOLDER, match: ["rm -r x"], not_match: ["rm -- -rf"] },
  ] },
  { program: "rm|grm|unlink|gunlink", long: "recursive force interactive", dry: "",
    not_match: ["rm -f *.log", "rm -d empty"], rows: REMOVALS },
  { program: "rimraf|del-cli|rmrf|rm-rf|deltree", dry: "", not_match: ["npx rimraf --help"], rows: [
    { when: ({ operands }) => operands.find(isVital), level: "hardline", rule: "recursive-delete.root",
      reason: WHOLE, match: ["rimraf /"], not_match: ["rimraf --version"] },
    { path: "*", rule: "recursive-delete.folder", reason: FOLDER, match: ["rimraf dist"] },
  ] },
  { program: "find|gfind|bfs", dry: "", not_match: ["find . -name '-delete'", "find . -name '*delete*'"],
    rows: [
    { when: findsEverythingIn, level: "hardline", rule: "recursive-delete.search",
      reason: "deletes everything below the root, a home or a system folder", match: ["find / -delete"],
      not_match: ["find . -name .env"] },
    { when: changesWhatItFinds, rule: "edit.found", reason: "changes every file that a search through a whole home finds",
      match: ["find ~ -name '*.yaml' -exec sed -i s/a/b/ {} +", "find ~ -path '*/.git/hooks' -exec install x {}/y \\;"],
      not_match: ["find . -name '*.ts' -exec sed -i s/a/b/ {} +", "find ~ -name '*.log' -exec ls -l {} +"] },
    { when: findsAndDeletes, rule: "delete.found", reason: FOUND, match: ["find $DIR -delete"],
      not_match: ["find . -name '*.rm'"] },
  ] },
  { program: "sed|gsed|perl|ruby|touch|truncate|patch|tee", dry: "", when: changesWhatIsListed, rule: "edit.found", reason: "changes every file that a search through a whole home finds",
    match: ["grep -rl foo ~ | xargs sed -i s/foo/bar/", "sed -i s/a/b/ $(grep -rl foo ~)"], not_match: ["grep -rl foo src | xargs sed -i s/foo/bar/", "find ~ -name x | xargs sed -n 1p"] },
  { program: "fd|fdfind", dry: "", when: (call) => {
        const program = call.after(/^(?:-[xX]|--exec|--exec-batch)$/);
        return isDeleter(program) ? program : undefined;
      },
    rule: "delete.found", reason: FOUND, match: ["fd -e pyc -x rm"], not_match: ["fd -e ts -x wc -l"] },
  { program: "shred|gshred|scrub|nwipe|wipe|srm", taking: "n s iterations size random-source", dry: "",
    when: ({ operands }) => operands.find(isDisk), level: "hardline", rule: "disk.overwrite",
    reason: OVERWRITES, match: ["shred /dev/sda"], not_match: ["shred --help"] },
  { program: "shred|gshred|srm|wipe|scrub|sfill|sdelete|sswap|secure-delete|nwipe", dry: "", when: (call) =>
      call.operands.length > 0 || call.find(/^--autonuke$/) !== undefined
        ? { word: call.operands[0] }
        : undefined,
    rule: "delete.forever", reason: "overwrites files so that nothing can bring them back",
    match: ["scrub f"], not_match: ["shred --help"] },
  { program: "rmdir", dry: "", not_match: ["rmdir build/empty"], rows: [
    { when: ({ operands }) => operands.find((word) => isVital(word) || isSystemPath(word)),
      rule: "delete.system", reason: "deletes folders of the operating system", match: ["rmdir /etc/x"],
      not_match: ["rmdir empty"] },
    { word: /^\/s$/i, rule: "windows.rmdir", reason: FOLDER, match: ["rmdir /s /q x"],
      not_match: ["rmdir -p a/b/c"] },
  ] },
  { program: "fdupes|jdupes", dry: "", word: /^-[a-zA-Z]*[dN]|^--(?:delete|noprompt)/, rule: "delete.found",
    reason: FOUND, match: ["fdupes -dN ."], not_match: ["fdupes -r ."] },
  { program: "trash-empty|bleachbit|tmpreaper|tmpwatch",
    unless: /^(?:--list|-l|--preview|-p|--test|-t|--dry-run)$/, rule: "delete.found", reason: FOUND,
    match: ["trash-empty"] },
  { program: "gio", not_match: ["gio list", "gio trash old"], rows: [
    { word: /^--empty$/, rule: "delete.found", reason: "deletes everything in the trash",
      match: ["gio trash --empty"], not_match: ["gio list"] },
    { when: ({ args }) => args.find(({ glob, text }) => glob && /^(?:\.\/)?\*$/.test(text)),
      rule: "delete.everything", reason: EVERYTHING, match: ["gio trash *"], not_match: ["gio trash old"] },
  ] },
  { program: "trash-put|trash", dry: "",
    when: ({ args }) => args.find(({ glob, text }) => glob && /^(?:\.\/)?\*$/.test(text)),
    rule: "delete.everything", reason: EVERYTHING, match: ["trash-put *"], not_match: ["trash-put old"] },
  { program: "mv|gmv", taking: "t S target-directory suffix", dry: "",
    not_match: ["mv a.txt b.txt", "mv src/a.ts src/b.ts"], rows: [
    { when: movesToNothing, rule: "delete.void", reason: "moves files where nothing comes back from",
      match: ["mv * /dev/null"], not_match: ["mv -n a b"] },
    { when: moved(isNeeded), rule: "move.system",
      reason: "moves a home, keys or a part of the operating system away", match: ["mv ~ /backup"],
      not_match: ["mv --help"] },
    { when: movesOntoOne, rule: "truncate.file", reason: "moves one file after the other onto the same name, so that only the last is left",
      match: ['for f in *; do mv -f "$f" all.md; done', "ls | xargs -I{} mv {} a.txt"],
      not_match: ['for f in *.txt; do mv "$f" "$(basename "$f" .txt).md"; done', 'for f in *; do mv "$f" done/; done', 'for f in *; do mv -n "$f" a.md; done'] },
    { when: moved(isHistoryFile), rule: "history.erase", reason: HISTORY, match: ["mv ~/.zsh_history /tmp"],
      not_match: ["mv build dist"] },
  ] },
  { program: "truncate|gtruncate", taking: "s r size reference", long: "size reference no-create io-blocks",
    dry: "", when: shrinks, rule: "truncate.file", reason: EMPTIES, match: ["truncate -s0 a b"],
    not_match: ["truncate --help"] },
  { program: "rm|unlink|shred|srm|wipe|truncate", dry: "",
    when: ({ operands }) => operands.find(isHistoryFile), rule: "history.erase", reason: HISTORY,
    match: ["rm ~/.bash_history"], not_match: ["rm *.o"] },
  { program: "rsync|openrsync", taking: "e f T B M", dry: "n dry-run", when: ({ flags, args, operands }) => {
        const deletes = [...flags].find((flag) => /^(?:del$|delete|remove-s)/.test(flag));
        if (deletes === undefined || (flags.has("delete") && mirrorsIntoBuild(operands))) return undefined;
        return args.find(({ text }) => text.startsWith(`--${deletes}`));
      },
    rule: "delete.mirror", reason: "deletes files on one side of a copy", match: ["rsync -a --del a/ b/"],
    not_match: ["rsync -a src/ dst/", "rsync -a --delete src/ build/src/"] },
  { program: "lftp", dry: "", word: /\bmirror\b.*--delete\b|(?:^|[;\s])(?:rm|mrm|glob rm)\s/,
    rule: "delete.mirror", reason: "deletes files on another machine", match: ["lftp mirror--delete"] },
  { program: "tar|gtar|bsdtar", dry: "", not_match: ["tar -tzf x.tgz", "tar -rf x.tar f"], rows: [
    { word: /^--remove-files$/, rule: "delete.archived", reason: ARCHIVED,
      match: ["tar --remove-files -cf a.tar b"], not_match: ["tar tvf a.tar"] },
    { word: /^--(?:to-command|checkpoint-action=exec|rmt-command|use-compress-program=.*\s)/,
      rule: "run.hidden", reason: HIDDEN, match: ["tar xf a.tar --to-command=/tmp/evil"],
      not_match: ["tar -xzf x.tgz"] },
  ] },
  { program: "rar", dry: "", word: /^(?:m[fd]?|-d[frw])$/, rule: "delete.archived", reason: ARCHIVED,
    match: ["rar m a.rar docs", "rar a -df a.rar docs"], not_match: ["rar a a.rar docs"] },
  { program: "tar|gtar|bsdtar|star|pax|cpio|bsdcpio|unzip|7z|7za|7zz|7zr|rar|unrar|unar|ditto", dry: "", when: writesByArchive,
    rule: "write.unpacked", reason: "lets an archive say where on the machine its files are written",
    match: ["tar xPf a.tar", "tar --absolute-names -xf a.tar", "unzip -: a.zip", "cpio -id --absolute-filenames < a.cpio", "7z x -spf a.7z", "unrar x -ep3 a.rar", "tar xf a.tar --transform 's,^,/etc/,'", "bsdtar -xPf a.tar"],
    not_match: ["tar czPf a.tgz src", "tar xpf a.tar", "unzip -o a.zip -d out", "cpio -idm < a.cpio", "7z x a.7z -oout", "tar xf a.tar --transform 's,^a/,b/,'", "tar -tPf a.tar"] },
  { program: "zip", taking: "b t n", dry: "", options: "m move", rule: "delete.archived", reason: ARCHIVED,
    match: ["zip -m a.zip b"], not_match: ["zip -r a.zip src"] },
  { program: "7z|7za|7zz", dry: "", word: /^-sdel$/, rule: "delete.archived", reason: ARCHIVED,
    match: ["7z a -sdel x.7z logs"], not_match: ["7z x a.7z"] },
  { program: "sed|gsed", taking: "e f expression file", dry: "",
    not_match: ["sed '1i exec' f", "sed 's/a/b/' file"], rows: [
    { when: (call) =>
        call.find(/^(?:d|1,\$d)$/) !== undefined && call.find(/^-[nE]*i|^--in-place/) !== undefined
          ? {}
          : undefined,
      rule: "truncate.file", reason: EMPTIES, match: ["sed -i d notes.md"], not_match: ["sed -n '$=' f"] },
    { when: sedRuns, rule: "run.hidden", reason: "runs shell commands from an editing script",
      match: ["sed 'e' cmds"], not_match: ["sed '/e/!d' f"] },
  ] },
  { program: "perl|ruby|awk|gawk", dry: "", when: printsNothingInPlace, rule: "truncate.file", reason: EMPTIES,
    match: ["perl -i -ne '' a.txt", "gawk -i inplace 0 a.txt"], not_match: ["perl -i -pe 's/a/b/' a.txt", "perl -ni -e 'print if /a/' a.txt", "gawk -i inplace '{print $1}' a.txt", "perl -ne '' a.txt"] },
  { program: "fallocate", taking: "l o length offset", options: "p punch-hole c collapse-range z zero-range",
    rule: "truncate.file", reason: "cuts data out of a file", match: ["fallocate --punch-hole -l 1M f"],
    not_match: ["fallocate -l 1G disk.img"] },
  { program: "touch", dry: "", when: (call) => {
        const like = call.after(/^(?:-[a-z]*r|--reference)$/);
        return /^\/(?:usr\/)?s?bin\//.test(like?.text ?? "") ? like : undefined;
      },
    rule: "history.time", reason: "gives a file the age of another to hide it",
    match: ["touch -r /bin/ls x"], not_match: ["touch etc"] },
  { program: "*", when: emptiesItself, rule: "truncate.self", reason: "empties the very file it is to read",
    match: ["jq . a.json > a.json"] },
  { program: "*", when: emptiedByRedirect, rule: "truncate.file", reason: EMPTIES, match: [">app.log"] },
  { program: "*", when: overwritesLog, rule: "truncate.log", reason: "overwrites a log of the system",
    match: ["echo x > /var/log/auth.log"] },
  { program: "*", when: replacedByNothing, rule: "truncate.file", reason: EMPTIES,
    match: ["cp /dev/null app.db", "sort -o notes.md /dev/null", "uniq /dev/null notes.md"] },
  { program: "xfs_io", dry: "", when: ({ args }) => args.find(({ text }) => /^\s*(?:truncate|fpunch|fzero|fcollapse|finsert|pwrite|resvsp|unresvsp|zero|mwrite|scrub|swapext|exchangerange|shutdown|chattr|falloc)\b/.test(text)), rule: "truncate.file", reason: "cuts data out of a file, or writes over it",
    match: ["xfs_io -c 'truncate 0' a.db", "xfs_io -f -c 'pwrite 0 1m' a.db"], not_match: ["xfs_io -c stat a.db", "xfs_io -r -c fiemap a.db"] },
]);
