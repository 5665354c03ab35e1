import type { Finding, SimpleCommand } from "../types.js";
import { danger, names } from "./row.js";

/** Where Windows looks for what it starts when somebody logs in. */
export const STARTED_FOLDER = /(?:^|[\\/])Start[ _]Menu[\\/]Programs[\\/]Start-?up(?:[\\/]|$)/i;

/**
 * Commands in the text of a Windows shell. Called from a shell of Unix they reach the Windows of a person from beside it:
 * what looks, and what builds a project, is listed; about the rest a person is asked.
 */

const KNOWN = names(
  "echo @echo dir ls gci type cat gc ver set where whoami hostname ipconfig systeminfo tasklist findstr find cd chdir sl path vol " +
    "title cls clear more tree fc comp pwd gl if else elseif default chcp foreach for while do until switch try catch finally return function param begin process end throw " +
    "break continue in not exist exit rem call pushd popd timeout ping nslookup tracert getmac arp netstat route driverquery quser query " +
    "ps gps gsv gcim gwmi select where ? % sort measure group fl ft fw tee write oh sleep gm gcm gal help man md mkdir ni copy cp cpi move mv mi ren rni " +
    "xcopy robocopy del rm ri erase rd rmdir clip wslpath explorer certutil reg sc net schtasks wmic dism netsh bcdedit vssadmin wevtutil fsutil icacls attrib " +
    "cipher takeown taskkill bitsadmin format diskpart shutdown iwr irm iex icm saps spps kill sp cmd powershell pwsh " +
    "git node npm npx pnpm yarn bun deno python python3 py pip dotnet msbuild nuget cargo rustc go java javac mvn mvnw gradle gradlew make nmake ninja cmake ctest cl link " +
    "tsc eslint prettier vitest jest pytest ruff code docker kubectl gh php ruby bundle composer pester devenv vstest.console nunit3-console signtool-verify tar curl wget 7z",
);
const KNOWN_CMDLET =
  /^(?:(?:get|test|select|where|sort|measure|format|write|convert|convertto|convertfrom|compare|join|split|resolve|foreach|out|show|find|search|group|read|trace|wait|debug|assert|pop|push|expand|compress|copy|move|rename|tee|step|use)-\w+|(?:import|export)-(?:module|csv|clixml|modulemember|powershelldatafile|formatdata)|start-sleep|start-job|stop-(?:job|process|transcript)|clear-(?:host|variable)|remove-(?:item|variable|module|job)|receive-job|start-transcript|invoke-(?:pester|scriptanalyzer|build|psake|plaster|webrequest|restmethod|expression|command|history)|new-(?:item|object|timespan|guid|variable|temporaryfile|module\w*|alias|pesterconfiguration|psdrive)|set-(?:location|strictmode|variable|content|psdebug|alias|item)|add-(?:content|member)|update-(?:help|formatdata|list|module)|install-module|publish-module-dry)$/;
/** Types whose methods only calculate, or tell about this program. */
const KNOWN_TYPE =
  /^(?:system\.)?(?:math|datetime|datetimeoffset|timespan|string|int\d*|long|double|decimal|bool|char|array|void|byte|guid|version|uri|regex|console|environment|convert|enum|xml|pscustomobject|ordered|hashtable|bitconverter|io\.path|io\.file|io\.directory|text\.encoding|text\.regularexpressions\.regex|net\.dns|globalization\.cultureinfo|runtime\.interopservices\.runtimeinformation|diagnostics\.(?:process|stopwatch|fileversioninfo)|collections\.\S+|linq\.enumerable|threading\.thread)$/;
const UNKNOWN_TYPE = /\[([\w.]+)\]::\w/g;

export function unlistedInWindows({ program, name, args }: SimpleCommand): Finding | undefined {
  for (const { text } of [name, ...args])
    for (const [, type = ""] of text.matchAll(UNKNOWN_TYPE))
      if (!KNOWN_TYPE.test(type.toLowerCase())) return ask(`the type ${type}`);
  if (!/^(?:dir|ls|gci|get-childitem|test-path|type|gc|cat|get-content|echo)$/.test(program))
    if (args.some(({ text }) => STARTED_FOLDER.test(text)))
      return ask("a folder whose programs start by themselves");
  // What stands here besides commands: variables, members, numbers, entries of tables, files of the project.
  if (!/^[a-z@?%][\w.-]*$/.test(program) || /^[$.[\d-]|=|^\.{1,2}[\\/]|\.(?:ps1|bat|cmd)$/.test(name.text))
    return undefined;
  if (program === "start")
    return args.some(({ text }) => /^(?:https?:|\.$)/.test(text)) ? undefined : ask("start");
  return KNOWN.has(program) || KNOWN_CMDLET.test(program) ? undefined : ask(program);
}

const ask = (what: string): Finding =>
  danger(
    `windows.${/^[a-z][a-z0-9-]*$/.test(what) ? what : "unlisted"}`,
    `may change something in Windows: ${what} is not known to only look`,
  );
