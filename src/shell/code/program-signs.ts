import type { EffectList } from "./effects.js";
import { exhaustionOf } from "./endless.js";
import { hiddenCall } from "./hidden-calls.js";

/** What the text of a program shows in any language: data that are code, memory without end, folders of a person emptied. */

/** Longer programs are scripts somebody works on: they unpack what they packed themselves. */
const ONE_LINER = 1_500;

/** Readers of packed data that run what is in them. */
const UNPACKS_CODE =
  /\b(?:c?pickle|dill|cloudpickle|joblib|jsonpickle|shelve)\.(?:loads?|open|decode|Unpickler)\s*\(|\bread_pickle\s*\(|\ballow_pickle\s*=\s*True|\bweights_only\s*=\s*False|\btrust_remote_code\s*=\s*True|\bsafe_mode\s*=\s*False|\btorch\.hub\.load\s*\(|\byaml\.(?:unsafe_load|full_load|load\s*\([^)]*\)?[^)]*\bLoader\s*=\s*(?:yaml\.)?(?:Unsafe|Full)?Loader\b)|\bYAML\.unsafe_load|\bMarshal\.load|\bunserialize\s*\(|\bStorable\b[\s\S]*\b(?:thaw|retrieve)\b|\bObjectInputStream\b|\bBinaryFormatter\b/;
const PACKS = /\bdumps?\b|\bto_pickle\b|\bserialize\s*\(|\bnstore\b|\bsave\s*\(/;

/** Every file of a folder … */
const LISTS =
  /\b(?:r?glob(?:Sync)?|readdir\w*|iterdir|os\.walk|scandir|listdir|Dir\.(?:glob|each|children|entries)|find)\b|Dir\[/;
/** … in which people keep what they made … */
const PERSONAL =
  /(?:~|\/(?:home|Users)\/[\w.-]+|HOME\b|[hH]ome\(?\)?|homedir\(\)|expanduser)[^\n]{0,40}?(?:Documents|Pictures|Photos|Music|Videos|Movies|Desktop|\.(?:docx?|odt|xlsx?|pdf|jpe?g|png|mp[34]))|(?:Path|Dir)\.home\b|homedir\(\)/;
/** … written with nothing, or cut to nothing. */
const EMPTIES =
  /write_(?:text|bytes)\(\s*b?(?:""|'')|write(?:File)?(?:Sync)?\([^;\n]{0,80},\s*(?:""|''|``)|file_put_contents\([^;\n]{0,80},\s*(?:""|'')|\btruncate(?:Sync)?\b|open\([^)\n]{0,60},\s*["'](?:wb?|>)["']\s*(?:,\s*\$\w+\s*)?\)\s*(?:\.close|[;})\]]|$)/m;

export function judgeSigns(code: string, list: EffectList): void {
  if (code.length > 20_000) return;
  if (code.length <= ONE_LINER && UNPACKS_CODE.test(code) && !PACKS.test(code))
    list.note("interpreter.evaluated-text", "runs code hidden in packed data");
  const hidden = hiddenCall(code);
  if (hidden === "shell") list.note("interpreter.reverse-shell", "connects a shell to the network");
  if (hidden === "name")
    list.note("interpreter.hidden-name", "calls something whose name is only known when it runs");
  const exhausts = exhaustionOf(code);
  if (exhausts === "memory") list.note("abuse.memory", "fills the memory of this machine");
  if (exhausts === "machine") list.note("abuse.exhaust", "goes on without end, or in great number");
  if (LISTS.test(code) && PERSONAL.test(code) && EMPTIES.test(code))
    list.note("truncate.file", "empties the files of a person one after the other");
}
