import type { SimpleCommand } from "../types.js";

/** Commands that are asked where something lies. What they print differs little from machine to machine. */
const PLACES: readonly { readonly program: RegExp; readonly asks: RegExp; readonly place: string }[] = [
  {
    program: /^git$/,
    asks: /^(?:.* )?rev-parse (?:.* )?--(?:absolute-git-dir|git-dir|git-common-dir)$/,
    place: ".git",
  },
  { program: /^git$/, asks: /^--exec-path$/, place: "/usr/lib/git-core" },
  { program: /^git$/, asks: /^--html-path$|^--man-path$/, place: "/usr/share/git" },
  {
    program: /^python[\d.]*$/,
    asks: /^-m site --user-site$|getusersitepackages|USER_SITE/,
    place: "~/.local/lib/python3/site-packages",
  },
  {
    program: /^python[\d.]*$/,
    asks: /getsitepackages|\b(?:pure|plat|std|platstd)lib\b|get_python_lib/,
    place: "/usr/lib/python3/site-packages",
  },
  { program: /^perl$/, asks: /Config\{["']?(?:site|priv|vendor|arch)lib/, place: "/usr/share/perl5" },
  { program: /^ruby$/, asks: /Gem\.(?:dir|default_dir)|(?:site|ruby|vendor)libdir/, place: "/usr/lib/ruby" },
  { program: /^gem$/, asks: /^env(?:ironment)? gemdir$/, place: "/usr/lib/ruby" },
  { program: /^(?:npm|pnpm)$/, asks: /^(?:root -g|-g root|root --global)$/, place: "/usr/lib/node_modules" },
  { program: /^php$/, asks: /extension_dir|php_ini_loaded_file/, place: "/usr/lib/php" },
  {
    program: /^pkg-config$/,
    asks: /--variable=(?:systemd|udev|session_bus|system_bus|completionsdir)\w*/,
    place: "/usr/lib/systemd",
  },
  { program: /^xdg-user-dir$/, asks: /^DOCUMENTS$/, place: "~/Documents" },
  { program: /^xdg-user-dir$/, asks: /^PICTURES$/, place: "~/Pictures" },
  { program: /^xdg-user-dir$/, asks: /^MUSIC$/, place: "~/Music" },
  { program: /^xdg-user-dir$/, asks: /^VIDEOS$/, place: "~/Videos" },
  { program: /^xdg-user-dir$/, asks: /^DESKTOP$/, place: "~/Desktop" },
];
/** Longer questions are programs that do more than ask. */
const LONGEST = 200;

/** The place a command prints, where it is asked for nothing else; undefined for all others. */
export function placePrintedBy({ program, args }: SimpleCommand): string | undefined {
  if (args.length === 0 || args.length > 6) return undefined;
  const rows = PLACES.filter((row) => row.program.test(program));
  if (rows.length === 0) return undefined;
  const words = args.map(({ text }) => text).join(" ");
  if (words.length > LONGEST) return undefined;
  const inside = program === "git" ? /(?:^|.* )rev-parse --git-path (\S+)$/.exec(words)?.[1] : undefined;
  const place = inside === undefined ? rows.find(({ asks }) => asks.test(words))?.place : `.git/${inside}`;
  return place === undefined ? undefined : `${place}\n`;
}
