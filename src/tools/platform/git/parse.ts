export interface StatusFile {
  readonly path: string;
  readonly state: "added" | "modified" | "deleted" | "renamed" | "copied" | "untracked" | "conflicted";
  /** Will be part of the next commit. */
  readonly staged: boolean;
  /** Has changes that will not. */
  readonly unstaged: boolean;
  readonly old_path?: string | undefined;
}

export interface GitStatus {
  readonly branch: string | null;
  readonly hash: string | null;
  readonly upstream: string | null;
  readonly ahead: number;
  readonly behind: number;
  readonly clean: boolean;
  readonly files: readonly StatusFile[];
}

const STATES: Readonly<Record<string, StatusFile["state"]>> = {
  A: "added",
  M: "modified",
  T: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
};

/** Output of `git status --porcelain=v2 --branch -z`. */
export function readStatus(output: string): GitStatus {
  const records = output.split("\0");
  const files: StatusFile[] = [];
  const head = new Map<string, string>();
  for (let at = 0; at < records.length; at++) {
    const record = records[at] ?? "";
    const kind = record[0];
    if (kind === "#") {
      const [, name = "", value = ""] = /^# branch\.(\S+) (.*)$/s.exec(record) ?? [];
      head.set(name, value);
    } else if (kind === "1" || kind === "2") {
      const fields = record.split(" ");
      const path = fields.slice(kind === "1" ? 8 : 9).join(" ");
      const [index = ".", tree = "."] = fields[1] ?? "";
      files.push({
        path,
        state: STATES[index === "." ? tree : index] ?? "modified",
        staged: index !== ".",
        unstaged: tree !== ".",
        ...(kind === "2" && { old_path: records[++at] ?? "" }),
      });
    } else if (kind === "u") {
      const path = record.split(" ").slice(10).join(" ");
      files.push({ path, state: "conflicted", staged: false, unstaged: true });
    } else if (kind === "?") {
      files.push({ path: record.slice(2), state: "untracked", staged: false, unstaged: true });
    }
  }
  const [, ahead = "0", behind = "0"] = /^\+(\d+) -(\d+)$/.exec(head.get("ab") ?? "") ?? [];
  const known = (value: string | undefined) => (value === undefined || value.startsWith("(") ? null : value);
  return {
    branch: known(head.get("head")),
    hash: known(head.get("oid")),
    upstream: known(head.get("upstream")),
    ahead: Number(ahead),
    behind: Number(behind),
    clean: files.length === 0,
    files,
  };
}

export interface Commit {
  readonly hash: string;
  readonly author: string;
  readonly email: string;
  readonly date: string;
  readonly parents: readonly string[];
  readonly refs: readonly string[];
  readonly message: string;
}

/** One commit per NUL with `-z`; the message comes last, since only it can have lines of its own. */
export const COMMIT_FORMAT = "--format=%H%n%an%n%ae%n%aI%n%P%n%D%n%B";
const LONGEST_MESSAGE = 4_000;

export function readCommits(output: string): readonly Commit[] {
  return output.split("\0").flatMap((record) => {
    const [hash = "", author = "", email = "", date = "", parents = "", refs = "", ...message] = record
      .replace(/^\n/, "")
      .split("\n");
    if (!/^[0-9a-f]{40,64}$/.test(hash)) return [];
    return [
      {
        hash,
        author,
        email,
        date,
        parents: parents === "" ? [] : parents.split(" "),
        refs: refs === "" ? [] : refs.split(", "),
        message: message.join("\n").trimEnd().slice(0, LONGEST_MESSAGE),
      },
    ];
  });
}

export interface ChangedFile {
  readonly path: string;
  readonly old_path?: string | undefined;
  readonly added: number;
  readonly removed: number;
  readonly binary?: true | undefined;
}

/** Output of `--numstat -z`: a renamed file has both names behind its counts. */
export function readNumstat(output: string): readonly ChangedFile[] {
  const records = output.split("\0");
  const files: ChangedFile[] = [];
  for (let at = 0; at < records.length; at++) {
    const match = /^\n?(\d+|-)\t(\d+|-)\t(.*)$/s.exec(records[at] ?? "");
    if (match === null) continue;
    const [, added = "", removed = "", path = ""] = match;
    const counts = {
      added: Number(added) || 0,
      removed: Number(removed) || 0,
      ...(added === "-" && { binary: true as const }),
    };
    if (path === "") files.push({ old_path: records[++at] ?? "", path: records[++at] ?? "", ...counts });
    else files.push({ path, ...counts });
  }
  return files;
}

export interface BlamedLine {
  readonly line: number;
  readonly hash: string;
  readonly author: string;
  readonly date: string;
  readonly text: string;
}

/** Output of `git blame --line-porcelain`. */
export function readBlame(output: string): readonly BlamedLine[] {
  const lines: BlamedLine[] = [];
  let hash = "";
  let line = 0;
  let fields = new Map<string, string>();
  for (const text of output.split("\n")) {
    const head = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(text);
    if (head !== null && fields.size === 0) {
      [, hash = ""] = head;
      line = Number(head[2]);
      fields.set("", "");
    } else if (text.startsWith("\t")) {
      const seconds = Number(fields.get("author-time") ?? 0);
      const date = new Date(seconds * 1000).toISOString();
      lines.push({ line, hash, author: fields.get("author") ?? "", date, text: text.slice(1) });
      fields = new Map();
    } else {
      const cut = text.indexOf(" ");
      if (cut > 0) fields.set(text.slice(0, cut), text.slice(cut + 1));
    }
  }
  return lines;
}

export interface PushedRef {
  readonly from: string;
  readonly to: string;
  readonly state: "new" | "updated" | "forced" | "deleted" | "up_to_date" | "rejected";
  readonly summary: string;
}

const PUSHED: Readonly<Record<string, PushedRef["state"]>> = {
  "*": "new",
  " ": "updated",
  "+": "forced",
  "-": "deleted",
  "=": "up_to_date",
  "!": "rejected",
};

/** Output of `git push --porcelain`. */
export function readPush(output: string): readonly PushedRef[] {
  return output.split("\n").flatMap((line) => {
    const match = /^([* +=!-])\t([^\t:]*):([^\t]*)\t(.*)$/.exec(line);
    if (match === null) return [];
    const [, flag = " ", from = "", to = "", summary = ""] = match;
    return [{ from, to, state: PUSHED[flag] ?? "updated", summary }];
  });
}
