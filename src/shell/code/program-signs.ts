import type { EffectList } from "./effects.js";

/** What the text of a program shows in any language: data that are code, memory without end, folders of a person emptied. */

/** Longer programs are scripts somebody works on: they unpack what they packed themselves. */
const ONE_LINER = 1_500;

/** Readers of packed data that run what is in them. */
const UNPACKS_CODE =
  /\b(?:c?pickle|dill|cloudpickle|joblib|jsonpickle|shelve)\.(?:loads?|open|decode|Unpickler)\s*\(|\bread_pickle\s*\(|\ballow_pickle\s*=\s*True|\bweights_only\s*=\s*False|\btrust_remote_code\s*=\s*True|\bsafe_mode\s*=\s*False|\btorch\.hub\.load\s*\(|\byaml\.(?:unsafe_load|full_load|load\s*\([^)]*\)?[^)]*\bLoader\s*=\s*(?:yaml\.)?(?:Unsafe|Full)?Loader\b)|\bYAML\.unsafe_load|\bMarshal\.load|\bunserialize\s*\(|\bStorable\b[\s\S]*\b(?:thaw|retrieve)\b|\bObjectInputStream\b|\bBinaryFormatter\b/;
const PACKS = /\bdumps?\b|\bto_pickle\b|\bserialize\s*\(|\bnstore\b|\bsave\s*\(/;

const ENDLESS =
  /\bwhile\s*\(?\s*(?:True|true|1|!0|:)\s*\)?|\bfor\s*\(\s*;\s*;\s*\)|\bloop\s*(?:do\b|\{)|\buntil\s+false\b|\bwhile\s*\(\s*\)/;
const GROWS =
  /\.(?:append|push|extend|insert|concat|add)\s*\(|<<|\bpush\s*\(?\s*@|\b(\w+)\s*\+=\s*(?:\1\b|["'`[(]|new\b|bytes|Buffer)|\b(\w+)\s*=\s*\2\s*(?:\*\s*\d|\+\s*\2)|\[\s*\w+\s*\+\+\s*\]\s*=/;
/** A program that waits, reads or may end is one that works. */
const ENDS =
  /\b(?:break|return|exit|sleep|input|read\w*|recv\w*|accept|yield|await|wait\w*|get|last|raise|throw|poll|select|next|time|now)\b/;
/** `"x" * 10**10`, `Buffer.alloc(1e12)`, `bytearray(2**40)`: more than any machine has. */
const HUGE_SIZE =
  /["'\])]\s*[*x]\s*\(?\s*(?:10\s*\*\*\s*(?:1[1-9]|[2-9]\d)|1e(?:1[1-9]|[2-9]\d)|2\s*\*\*\s*(?:3[7-9]|[4-9]\d))|\b(?:bytearray|bytes|alloc\w*|malloc|repeat|zeros|ones|ArrayBuffer|Array)\s*\(\s*(?:10\s*\*\*\s*(?:1[1-9]|[2-9]\d)|1e(?:1[1-9]|[2-9]\d)|2\s*\*\*\s*(?:3[7-9]|[4-9]\d))|\blist\s*\(\s*(?:itertools\.)?(?:count|cycle|repeat)\s*\(|\d\s*\*\*\s*\d+\s*\*\*\s*\d/;

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
  if (HUGE_SIZE.test(code) || (ENDLESS.test(code) && GROWS.test(code) && !ENDS.test(code)))
    list.note("abuse.memory", "fills the memory of this machine");
  if (LISTS.test(code) && PERSONAL.test(code) && EMPTIES.test(code))
    list.note("truncate.file", "empties the files of a person one after the other");
}
