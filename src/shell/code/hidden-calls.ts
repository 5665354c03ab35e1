/**
 * Programs that put together the names of what they call, or join a shell with the network: told by the text alone, in any
 * language. Longer programs are scripts somebody works on.
 */
const LONGEST = 1_500;

/** A text made of pieces that stand beside each other, turned round or decoded. */
const COMPUTES =
  /["'`]\s*(?:\+|\.\.?|<>|\+\+|&|~)\s*["'`]|\[::-1\]|["']["']\.join\s*\(|\.join\s*\(\s*["'`]_?["'`]\s*\)|\bchr\s*\(|\breversed?\s*\(|\brev\s*\(|\bstrrev\b|rot_?13|\bcodecs\.decode|\bfromhex\b|\bunhexlify\b|\bhex2bin\b|base64|b64|\batob\b|from(?:Char|Code)(?:Code|Point)|\[char\]|\bpack\s*\(|\]\.pack\b|\bunpack1?\b|\bto_atom\b|\bchartr\b|\brawToChar\b|\bintToUtf8\b/i;
const PERL_COMPUTES = /\bjoin\b|\bchr\b|\bpack\b|\breverse\b|\bqw[\s({[]|\btr\/|\w["']\s*\.\s*["']/;
const PHP_COMPUTES =
  /\b(?:implode|join|substr|strtr|str_replace|chr|sprintf)\s*\(|["']\s*\.\s*["'$]|\$\w+\s*\.\s*["'$]|=\s*\$(?:argv|_(?:GET|POST|REQUEST|SERVER|ENV))\b/;
const SHELL_COMPUTES = /["')]\s*\+\s*["'(]|-join\b|["']\s*-f\s|\bReplace\b|\[\d+(?:,\s*\d+)+\]/i;

/** How each language calls, loads or looks up what a value says, and how such a value is made there. */
const CALLS_VALUES: readonly (readonly [calls: RegExp, computes: RegExp])[] = [
  // Python
  [
    /\b__import__\s*\(|\bimport_module\s*\(|\bgetattr\s*\(|\b(?:globals|vars|locals)\s*\(\s*\)\s*\[|__builtins__|\bsys\.modules\s*\[|__dict__\s*\[/,
    COMPUTES,
  ],
  // JavaScript
  [
    /\b(?:global|globalThis|process|window|module|cp|fs)\s*\[|\brequire\s*\(\s*(?!["'`][^"'`]*["'`]\s*\)|process\.argv)|\w+\s*\(\s*\[[^\]]*\]\.join|\bimport\s*\(\s*(?!["'`][^"'`]*["'`]\s*\))|\bReflect\./,
    COMPUTES,
  ],
  // Perl
  [/&\s*\{|\*\s*\{\s*["'\\]|&\s*\$\w+|->\s*\$\w+\s*\(|->can\s*\(/, PERL_COMPUTES],
  // PHP
  [
    /(?<![\w>:$\\])\$\w+(?:\[[^\]]*\])*\s*\(|["')\]]\s*\)\s*\(|\(\s*\$\w+\s*\.[^()]*\)\s*\(|\bcall_user_func\w*\s*\(|\bReflection(?:Function|Method|Class)\b/,
    PHP_COMPUTES,
  ],
  [/(?<![\w>:$\\])\$\w+\s*\(|\bcall_user_func\w*\s*\(/, COMPUTES],
  // Lua, Elixir, Groovy, Java, Tcl
  [
    /\b(?:_G|_ENV|os|io)\s*\[|\bapply\s*\(\s*:|["')]\s*\)?\s*\.execute\s*\(|\bClass\.forName\b|\bgetMethod\s*\(|\bgetDeclaredMethod\b|(?:^|;)\s*\$\w+\s+(?![=+\-*/.|<>!&?])/,
    /["'`]\s*\.\.\s*["'`]|["']\s*(?:<>|\+)\s*["']|\breverse\b|\bto_atom\b|\bstring\.char\b|\bjoin\b/,
  ],
  // PowerShell
  [/(?:^|[;|{(])\s*[&.]\s*(?:\(|\$)|\.Invoke\s*\(|\bGet-Command\b/, SHELL_COMPUTES],
];
/** Ways to what a language keeps from its programs; nobody needs them on a command line. */
const ESCAPES =
  /\bcreate_function\s*\(|@ARGV\s*=[^;]*\w\s*\|["']|\b(?:__)?builtins(?:__)?\.__dict__|\bmethodcaller\s*\(|getPrototypeOf\s*\([\s\S]*\)\.constructor|\b(?:do\.call|match\.fun|get)\s*\(\s*(?:paste|intToUtf8|rawToChar|rev|chartr)|\bconst_get\b[\s\S]*\b(?:popen|system|exec|spawn|send|eval)\b|\[\s*["'`]constructor["'`]\s*\]|\.constructor\s*\.\s*constructor|\bprocess\.(?:binding|_linkedBinding|dlopen)\b|__subclasses__\s*\(|__globals__|\bmainModule\b[\s\S]*\bBuffer\b|\[scriptblock\]\s*::\s*Create|\[(?:System\.)?Diagnostics\.Process\]\s*::\s*Start|\[(?:System\.)?Reflection\.Assembly\]\s*::\s*Load|\bAdd-Type\b[\s\S]*\bDllImport\b/i;
/** Names of functions that start programs, as texts of PHP. */
const NAMED_STARTER = /<\?php|\$\w|\barray_\w+\s*\(|\bcall_user_func|_callback\s*\(/;
const STARTER_TEXT =
  /["'](?:system|exec|shell_exec|passthru|popen|proc_open|pcntl_exec|assert|create_function)["']/;

/** A text that nobody can read, in a program that starts others or runs text. */
const DECODES =
  /\batob\b|["']base64["']|\bb64decode\b|\bbase64_?decode\w*|\bdecode_?base64\b|\bfrom(?:Char|Code)(?:Code|Point)\b|\bfromhex\b|\bunhexlify\b|\bhex2bin\b|rot_?13|\bunpack1?\b|\]\.pack\b|\bintToUtf8\b|\brawToChar\b|\bstrrev\b|\binflate\w*\b|\bgz(?:inflate|uncompress|decode)\b/;
const STARTS =
  /\b(?:child_process|execSync|spawnSync|subprocess|popen|shell_exec|passthru|proc_open|instance_eval|class_eval|qx|os\.(?:system|execute|exec\w+)|io\.popen|system2?|(?<![.\w])(?:eval|exec))\s*[("'`.[]/;

const CONNECTS =
  /\bnet\b[\s\S]*\bconnect\b|\btls\b[\s\S]*\bconnect\b|\bcreateConnection\b|\bcreateServer\b|\bsocket\b[\s\S]*\b(?:connect\w*|bind|listen)\b|\bsocketserver\b|\bTCP(?:Socket|Server|Client)\b|\bUNIXServer\b|\b[fp]sockopen\b|\bstream_socket_\w+|\bIO::Socket\b|\bsockaddr_in\b|\bcreate_connection\b|\b(?:Deno|Bun)\.(?:connect|listen|serve)\b|\bHTTPServer\b|\bWEBrick\b|\bWebSocket\b|\bsocketConnection\s*\(|\bServerSocket\b|\bgen_tcp\b/;
const SHELL =
  /["'`](?:\/(?:usr\/)?bin\/)?(?:ba|z|da|k)?sh(?:\s+-i)?["'`]|\b(?:cmd|powershell|pwsh)(?:\.exe)?["'`]|\bshell\s*=\s*True\b|\b(?:getoutput|execSync|exec|popen)\s*\(\s*(?:[a-z]\b|\w+\.(?:path|url|body|query|data)|decodeURIComponent|\w*data\w*|req\b|cmd\b|line\b)/;

/** Why a person should see this program first; undefined when it calls what it names. */
export function hiddenCall(code: string): "name" | "shell" | undefined {
  if (code.length > LONGEST) return undefined;
  if (CONNECTS.test(code) && SHELL.test(code)) return "shell";
  if (ESCAPES.test(code)) return "name";
  if (DECODES.test(code) && STARTS.test(code)) return "name";
  if (NAMED_STARTER.test(code) && STARTER_TEXT.test(code)) return "name";
  // A function that the program itself wrote is no secret.
  if (/=\s*(?:static\s+)?(?:fn|function|sub)\b/.test(code)) return undefined;
  return CALLS_VALUES.some(([calls, computes]) => calls.test(code) && computes.test(code))
    ? "name"
    : undefined;
}
