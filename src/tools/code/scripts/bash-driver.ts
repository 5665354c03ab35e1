/** Where the inner shell keeps the stream for its reports, out of the way of scripts. */
const REPORT = 251;

/**
 * A shell that stays. The outer one reads the channel; the inner one has a process group of its own and is
 * interactive, so that an interrupt ends what it does and not the shell. It gets one line for each order.
 */
export const BASH_DRIVER = `set -m
coproc INNER {
trap : INT
PS1= PS2= "$BASH" --noprofile --norc --noediting -i >&4 2>/dev/null 3<&- 4>&-
CODE=$?
trap '' INT
printf -v END '{"exit":%d,"ended":true}' "$CODE"
printf '%sd.%04x%s' "$1" "\${#END}" "$END" >&4
}
GROUP=$INNER_PID
while IFS= read -r -u 3 LINE; do
case $LINE in
interrupt) kill -INT -- "-$GROUP" ;;
*) printf '%s\\n' "$LINE" >&"\${INNER[1]}" ;;
esac
done 2>/dev/null
`;

/** The first line for the inner shell. The outer one speaks for it that the interpreter runs. */
export function bashSetup(token: string): string {
  return `exec 2>&1 ${REPORT}>&1; unset -v HISTFILE MAILCHECK; set +H +o history; ${report(token, "h", "")}\n`;
}

export const BASH_INTERRUPT = "interrupt\n";

/** Two lines: an interrupt ends the first one only. */
export function bashCell(cell: {
  readonly token: string;
  readonly id: number;
  readonly code: string;
}): string {
  const done = `{"id":${cell.id},"exit":@@@}`;
  return `eval -- ${ansiQuoted(cell.code)} </dev/null\n${report(cell.token, "d", done)}\n`;
}

/** `@@@` stands for the exit status, which is padded so that the length is known beforehand. */
function report(token: string, kind: string, payload: string): string {
  const header = `${kind}.${payload.length.toString(16).padStart(4, "0")}`;
  const status = payload.includes("@@@") ? ' "$?"' : "";
  return `builtin printf '${token}${header}${payload.replace("@@@", "%3d")}'${status} >&${REPORT}`;
}

/** One line, whatever the text holds. */
function ansiQuoted(text: string): string {
  const escaped = text.replace(/[\\'\n\r\t\u0001-\u001f\u007f]/g, (character) => {
    if (character === "\\" || character === "'") return `\\${character}`;
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return `$'${escaped}'`;
}
