/** Programs, in any language, that go on without end or in great number: told by the text alone. */

const ENDLESS =
  /\bwhile\s*\(?\s*(?:True|true|1|!0|:)\s*\)?|\bfor\s*\(\s*;\s*;\s*\)|\bloop\s*(?:do\b|\{)|\buntil\s+false\b|\bwhile\s*\(\s*\)|\brepeat\s+(?:\{|\w+(?:\[|\s*<-|\())|\bfor\s*\{|\biter\s*\(\s*int\s*,\s*1\s*\)|\bitertools\.(?:count|cycle)\s*\(|\b\d+\.step\b/;
const GROWS =
  /\.(?:append|push|extend|insert|concat|add)\s*\(|<<|\bpush!?\s*\(?\s*[@\w]|\b(\w+)\s*\+=\s*(?:\1\b|["'`[(]|new\b|bytes|Buffer)|\b(\w+)\s*=\s*\2\s*(?:\*\s*\d|\+\s*\2)|\[\s*(?:\w+\s*\+\+|#\w+\s*\+\s*1|\[?length\(\w+\)\s*\+\s*1\]?|n)\s*\]\]?\s*(?:=|<-)|\bc\((\w+)\s*,|\binsert(?:One|Many)\s*\(|\bredis\.call\s*\(\s*["'](?:[RL]PUSH|SADD|ZADD|SET|HSET|APPEND|XADD)/i;
const WRITES_FILES =
  /\bopen\b[^\n;]{0,40}["']\+?>>?|\bopen\s*\([^\n]{0,120}?,\s*["'][wax]|\b(?:write|append)File(?:Sync)?\s*\(|\bfile_put_contents\s*\(|\bFile\.(?:write|open)\s*\(|\bprint[^;}]*>|\bmkdir\w*\s*\(/;
const SENDS =
  /\b(?:fetch|https?\.request|https?\.get|axios|got|curl_exec|urlopen|sendmail|mail|send|sendMessage|post|put|publish|connect|getaddrinfo)\s*\(/;
const POSTS =
  /\bmail\s+-s\b|\bcurl\s[^"'\n]*-(?:X\s*POST|d)\b|\b(?:sendmail|mail|sendMessage|post|put|publish|create\w*)\s*\(|["'](?:POST|PUT)["']/;
/** A program that waits, reads or may end is one that works. */
const ENDS =
  /\b(?:break|return|exit|sleep|input|read\w*|recv\w*|accept|yield|await|wait\w*|last|raise|throw|poll|select|delay|setTimeout|ticker?)\b/;
/** The same where each round sends: to wait for an answer is no rest. */
const LEAVES =
  /\b(?:break|return|exit|sleep|input|recv\w*|accept|yield|last|raise|throw|poll|select|delay|setTimeout)\b/;
const HERE = /\blocalhost\b|127\.0\.0\.1|\[::1\]|0\.0\.0\.0/;

/** `"x" * 10**10`, `Buffer.alloc(1e12)`, `bytearray(2**40)`: more than any machine has. */
const HUGE_SIZE =
  /["'\])]\s*[*x]\s*\(?\s*(?:10\s*\*\*\s*(?:1[1-9]|[2-9]\d)|1e(?:1[1-9]|[2-9]\d)|2\s*\*\*\s*(?:3[7-9]|[4-9]\d))|\b(?:bytearray|bytes|alloc\w*|malloc|repeat|zeros|ones|ArrayBuffer|Array)\s*\(\s*(?:10\s*\*\*\s*(?:1[1-9]|[2-9]\d)|1e(?:1[1-9]|[2-9]\d)|2\s*\*\*\s*(?:3[7-9]|[4-9]\d))|\blist\s*\(\s*(?:itertools\.)?(?:count|cycle|repeat)\s*\(|\d\s*\*\*\s*\d+\s*\*\*\s*\d/;
/** Hundreds of megabytes, which a loop keeps. */
const LARGE_PIECE =
  /(?:\b(?:rand\w*|zeros|ones|numeric|alloc\w*|bytearray|bytes|repeat|rep|Array|fill|Bytes\.new|str_repeat|undef)\s*\(?|["']\s*(?:\*|x|,)\s*)\s*(?:["'][^"']*["']\s*,\s*)?(?:10\s*(?:\^|\*\*)\s*(?:[89]|1\d)|\d*\.?\d+e(?:[89]|1\d)|\d(?:_?\d){8,}|1\s*<<\s*[3-9]\d)/;
const LOOPS = /\b(?:for|while|repeat|loop|map|each|times|until|setInterval)\b/;

/** A timer that goes off many times a second. */
const RAPID = /\bsetInterval\s*\([\s\S]*,\s*\d{1,2}\s*\)/;
/** `process.execPath` with its own words, `sys.executable` with `sys.argv`, `$^X` with `$0`: it starts itself. */
const STARTS_ITSELF =
  /process\.(?:execPath|argv0|argv\[0\])[\s\S]*(?:execArgv|_eval|__filename|process\.argv\[1\]|process\.argv\.slice)|sys\.executable[\s\S]*(?:sys\.argv|sys\.orig_argv|__file__)|\$\^X[\s\S]*\$0|\b(?:spawn|exec|system|fork)\b[^\n]{0,80}(?:\$0|\$PROGRAM_NAME|__FILE__|PHP_BINARY)/;
const THREADS = /\b(?:Thread|Process|Worker|Popen|spawn\w*|fork|exec|task|go\s+func)\b/;
const STARTS = /\b(?:spawn|fork|Popen|Thread|Worker|execFile|exec|system)\s*\(/;
const MANY = 500;
const VERY_MANY = 1_000;

/** How often a loop that counts goes round. `1:5000` behind `in` only: elsewhere it is a port. */
const COUNTS =
  /\brange\s*\(\s*(?:\d+\s*,\s*)?([\d_]+(?:e\d+)?|10\s*\*\*\s*\d+)\s*\)|<=?\s*(\d[\d_]*(?:e\d+)?)\b|\b\d+\s*\.\.\.?\s*(\d[\d_]*(?:e\d+|\^\d+)?)|\bin\s+\(?\s*\d+\s*:\s*(\d[\d_]*(?:e\d+|\^\d+)?)|\b([\d_]+)\.times|\blength:\s*(\d[\d_]*(?:e\d+)?)|\bupto\s*\(?\s*(\d+)/g;

function mostRounds(code: string): number {
  let most = 1;
  for (const [, ...found] of code.matchAll(COUNTS)) {
    const text = (found.find((one) => one !== undefined) ?? "1").replace(/[\s_]/g, "");
    const [base = "1", power = "1"] = text.split(/\^|\*\*/);
    most = Math.max(most, Number(base) ** Number(power) || 1);
  }
  return most;
}

/** Longer programs are scripts somebody works on. */
const LONGEST = 1_500;
const LONGEST_SCRIPT = 20_000;

/** What a program uses up; undefined for one that ends, waits or only counts. */
export function exhaustionOf(code: string): "memory" | "machine" | undefined {
  if (code.length > LONGEST_SCRIPT) return undefined;
  if (HUGE_SIZE.test(code)) return "memory";
  const isEndless = ENDLESS.test(code);
  if (isEndless && GROWS.test(code) && !ENDS.test(code)) return "memory";
  if (code.length > LONGEST) return undefined;
  const isRapid = RAPID.test(code);
  if (LARGE_PIECE.test(code) && GROWS.test(code) && (LOOPS.test(code) || isEndless)) return "memory";
  if (isEndless && WRITES_FILES.test(code) && !ENDS.test(code)) return "machine";
  if (isEndless && STARTS.test(code) && !ENDS.test(code)) return "machine";
  if (STARTS_ITSELF.test(code)) return "machine";
  const rounds = mostRounds(code);
  if (rounds >= MANY && THREADS.test(code) && (isEndless || /\bPopen\b|\bfork\b|\bspawn/.test(code)))
    return "machine";
  if (HERE.test(code)) return undefined;
  if ((isEndless || isRapid) && SENDS.test(code) && !LEAVES.test(code)) return "machine";
  return rounds >= VERY_MANY && LOOPS.test(code) && POSTS.test(code) ? "machine" : undefined;
}

const SERIES = /\bgenerate_series\s*\(\s*-?[\d.e+_]+\s*,\s*([\d.e+_]+)/gi;
const RESTS =
  /\b(?:pg_sleep|sleep|dbms_lock\.sleep|dbms_session\.sleep)\s*\(\s*(\d{3,})|\bwaitfor\s+delay\s+'(\d\d):|\bbenchmark\s*\(\s*(\d{9,})|\brandomblob\s*\(\s*(\d{9,})/i;
const LONG_REST = 600;

/** Rows by the thousand million, a rest of hours in an open transaction, a recursion that nothing stops. */
export function queryNeverEnds(text: string): boolean {
  let rows = 1;
  for (const [, count = "1"] of text.matchAll(SERIES)) rows *= Number(count.replaceAll("_", "")) || 1;
  if (rows >= 1e9) return true;
  const [, seconds, hours, ...sizes] = RESTS.exec(text) ?? [];
  if (Number(seconds) >= LONG_REST || Number(hours) > 0 || sizes.some((size) => size !== undefined))
    return true;
  return (
    /\bwith\s+recursive\b[\s\S]*\bunion\s+all\b/i.test(text) &&
    !/\b(?:where|limit|join|from\s+\w+\s*,)\b/i.test(text)
  );
}
