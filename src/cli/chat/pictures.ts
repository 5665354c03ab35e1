import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;
export type PictureProtocol = "kitty" | "iterm" | "none";

/** How this terminal shows pictures, as far as it says so by itself. Nothing is asked: an answer could get among the keys. */
export function pictureProtocol(env: Environment = process.env): PictureProtocol {
  // tmux and screen pass neither on unless they are told to.
  if (env.TMUX !== undefined || env.STY !== undefined) return "none";
  if (env.TERM === "xterm-kitty" || env.TERM === "xterm-ghostty" || env.KITTY_WINDOW_ID !== undefined)
    return "kitty";
  return env.TERM_PROGRAM === "iTerm.app" || env.TERM_PROGRAM === "WezTerm" ? "iterm" : "none";
}

/** The most that kitty takes in one piece. */
const PIECE = 4_096;
const MOST_ROWS = 16;

/** What shows the picture below the cursor; undefined where the terminal cannot show this kind. */
export function pictureSequence(
  picture: { readonly data: string; readonly mimeType: string },
  protocol: PictureProtocol,
): string | undefined {
  if (!/^[\w+/=\s]*$/.test(picture.data)) return undefined;
  const data = picture.data.replace(/\s/g, "");
  if (protocol === "iterm")
    return `\x1b]1337;File=inline=1;height=${MOST_ROWS};preserveAspectRatio=1:${data}\x07`;
  if (protocol !== "kitty" || picture.mimeType !== "image/png") return undefined;
  const pieces = data.match(new RegExp(`.{1,${PIECE}}`, "g")) ?? [];
  return pieces
    .map((piece, index) => {
      const head = index === 0 ? `a=T,f=100,r=${MOST_ROWS},q=2,` : "";
      return `\x1b_G${head}m=${index === pieces.length - 1 ? 0 : 1};${piece}\x1b\\`;
    })
    .join("");
}

/** Where a terminal shows no pictures, the person can open the file. */
export async function keepPicture(
  picture: { readonly data: string; readonly mimeType: string },
  folder: string,
): Promise<string> {
  const ending = /^image\/([a-z]{3,4})$/.exec(picture.mimeType)?.[1] ?? "bin";
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `picture-${randomUUID().slice(0, 8)}.${ending}`);
  await writeFile(path, Buffer.from(picture.data, "base64"), { mode: 0o600 });
  return path;
}
