import { ToolError } from "../../../tool/errors.js";

/** Commands that only look. A closed list: Redis has no read-only mode for a connection. */
const READING = new Set(
  `GET MGET STRLEN GETRANGE SUBSTR EXISTS TYPE TTL PTTL EXPIRETIME PEXPIRETIME KEYS SCAN DBSIZE RANDOMKEY DUMP
  HGET HMGET HGETALL HKEYS HVALS HLEN HEXISTS HSCAN HSTRLEN HRANDFIELD HTTL HPTTL
  LRANGE LINDEX LLEN LPOS
  SMEMBERS SISMEMBER SMISMEMBER SCARD SRANDMEMBER SSCAN SINTER SUNION SDIFF SINTERCARD
  ZRANGE ZREVRANGE ZRANGEBYSCORE ZREVRANGEBYSCORE ZRANGEBYLEX ZREVRANGEBYLEX ZRANK ZREVRANK ZSCORE ZMSCORE ZCARD
  ZCOUNT ZLEXCOUNT ZSCAN ZINTER ZUNION ZDIFF ZINTERCARD ZRANDMEMBER
  XRANGE XREVRANGE XLEN XREAD XPENDING
  GEOPOS GEODIST GEOHASH GEOSEARCH GEORADIUS_RO GEORADIUSBYMEMBER_RO
  BITCOUNT BITPOS GETBIT BITFIELD_RO SORT_RO EVAL_RO EVALSHA_RO FCALL_RO
  JSON.GET JSON.MGET JSON.TYPE INFO PING ECHO TIME LASTSAVE`.split(/\s+/),
);

/** Commands whose first word says too little. */
const READING_PARTS: Readonly<Record<string, readonly string[]>> = {
  MEMORY: ["USAGE", "STATS"],
  OBJECT: ["ENCODING", "FREQ", "IDLETIME", "REFCOUNT"],
  XINFO: ["STREAM", "GROUPS", "CONSUMERS"],
  COMMAND: ["COUNT", "DOCS", "INFO", "LIST", "GETKEYS"],
};

/** They turn the connection into something else, or wait for ever. */
const NEVER = new Set(
  "SUBSCRIBE PSUBSCRIBE SSUBSCRIBE MONITOR SYNC PSYNC RESET QUIT HELLO AUTH MULTI EXEC".split(" "),
);

/** Commands that give back everything a key holds: how much that is can be asked first. */
export const WHOLE_KEYS = new Set(
  "GET HGETALL HKEYS HVALS SMEMBERS DUMP LRANGE ZRANGE ZREVRANGE XRANGE XREVRANGE JSON.GET".split(" "),
);

/** A command line in words: "double" and 'single' quotes hold spaces; in double ones \n, \t, \" and \\ are known. */
export function commandWords(line: string): readonly string[] {
  const words: string[] = [];
  const pattern = /\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s"']+))(?=\s|$)/gsy;
  const text = line.trim();
  let at = 0;
  while (at < text.length) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) {
      throw new ToolError(`The command cannot be read from ${JSON.stringify(text.slice(at, at + 30))} on.`, {
        code: "invalid_arguments",
        hint: "Close the quotes and put spaces between arguments: SET \"my key\" 'a value'. Values can also come as params.",
      });
    }
    const [whole, double, single, bare] = found;
    words.push(bare ?? single?.replace(/\\'/g, "'") ?? unescaped(double ?? ""));
    at += whole.length;
  }
  return words;
}

function unescaped(text: string): string {
  const known: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
  return text.replace(/\\(.)/gs, (_whole, sign: string) => known[sign] ?? sign);
}

export function requireCommand(words: readonly string[], readonly: boolean): void {
  const [name = "", part = ""] = words.map((word) => word.toUpperCase());
  if (NEVER.has(name)) {
    throw new ToolError(`${name} cannot be used in a single query.`, {
      code: "invalid_arguments",
      hint: "Use commands that answer once.",
    });
  }
  const parts = Object.hasOwn(READING_PARTS, name) ? READING_PARTS[name] : undefined;
  if (!readonly || READING.has(name) || parts?.includes(part) === true) return;
  throw new ToolError(`${name} is not among the commands that only read.`, {
    hint: "With readonly: false a person is asked to allow it.",
  });
}
