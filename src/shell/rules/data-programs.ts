/** Programs whose operands are files, text, patterns, tests or names of tasks. */
export const TAKES_DATA = new Set(
  (
    "echo printf print cat tac nl head tail less more most bat ls exa eza lsd tree cd pushd popd pwd mkdir touch stat file wc sort " +
    "uniq cut paste tr rev column fold fmt comm diff cmp sdiff colordiff delta grep egrep fgrep rg ag ack jq yq xq sed awk gawk " +
    "perl python ruby node deno bun php lua make gmake just task rake ninja cmake meson bazel buck gradle mvn ant sbt gulp grunt " +
    "nx turbo npm npx yarn pnpm jest vitest mocha ava tap pytest tox nox unittest rspec phpunit ctest cypress playwright karma " +
    "cargo go rustc gcc clang javac tsc eslint prettier biome ruff black mypy flake8 pylint shellcheck man tldr info help whatis " +
    "apropos which whereis type command hash test [ [[ true false : export declare typeset local readonly read set unset alias " +
    "unalias source . eval exec trap wait sleep date cal seq yes expr bc dc basename dirname realpath readlink mktemp env which " +
    "vim vi nvim nano emacs code subl open xdg-open start look spell aspell dict say figlet cowsay banner toilet espeak logger " +
    "notify-send tee xargs find fd locate mdfind curl wget http https xh git hg svn gh glab ssh scp rsync tar zip unzip gzip cp " +
    "mv ln rm install chmod chown id whoami who w ps top htop kill tmux screen watch time timeout nohup sudo doas su env docker " +
    "podman kubectl helm terraform aws gcloud az psql mysql sqlite3 redis-cli mongosh compgen complete bind fzf sk dmenu rofi " +
    "pandoc latex pdflatex convert magick ffmpeg sox dot gnuplot trans translate wn ollama llm claude codex aider gemini gpt chatgpt cursor"
  ).split(" "),
);

/**
 * Programs for which a file is something to show, compare, move, pack or turn into another: whatever it holds, they do not
 * do what it says.
 */
export const HANDLES_FILES: ReadonlySet<string> = new Set(
  (
    "[ [[ test sed gsed ls ll exa eza lsd tree stat file wc du df cd pushd popd pwd mkdir rmdir touch cat tac nl head tail less more most bat " +
    "batcat view xxd od hexdump hd strings base64 base32 basenc cut sort uniq paste fold fmt column comm diff cmp colordiff sdiff " +
    "delta difft rev pr expand unexpand tr iconv look grep egrep fgrep zgrep rg ag ack jq gojq jaq yq xq dasel mlr csvkit csvlook " +
    "echo printf print true false : export declare typeset local readonly unset read set alias cp gcp mv gmv ln link unlink rm grm " +
    "shred truncate tee sponge split csplit dd rsync scp sftp tar gtar bsdtar zip unzip gzip gunzip zcat bzip2 bunzip2 xz unxz " +
    "zstd 7z 7za rar unrar cpio ar chmod chown chgrp chattr lsattr setfacl getfacl getfattr setfattr namei realpath readlink " +
    "dirname basename mktemp mkfifo mknod find gfind fd fdfind locate md5sum sha1sum sha224sum sha256sum sha384sum sha512sum " +
    "shasum cksum b2sum sum md5 gpg gpg2 gpgv age signify minisign openssl git hg svn jj curl wget wget2 aria2c http https xh " +
    "sqlite3 psql mysql mariadb redis-cli duckdb pg_dump pg_restore mysqldump mongodump mongorestore mongoexport mongoimport " +
    "gcc g++ cc c++ clang clang++ rustc javac go tsc cmake make nm objdump readelf ldd strip objcopy size ar ranlib ld " +
    "ffmpeg ffprobe sox convert magick identify mogrify exiftool pdftotext qpdf gs dot feh display open xdg-open code subl gedit " +
    "nano ps lsof fuser inotifywait mountpoint findmnt sync watch kill pgrep strace ltrace perf cscope ctags patch pandoc jar " +
    "docker podman nerdctl kubectl oc helm install ginstall logger mail mutt tmpwatch tmpreaper xattr nvidia-smi Xvfb xauth ssh " +
    "ssh-keygen ssh-add ssh-agent eval flock lockfile black ruff isort autopep8 gofmt shfmt shellcheck clang-format rustfmt " +
    "wl-copy xclip pbcopy notify-send entr tail multitail gcov lcov genhtml valgrind screen script asciinema chromium firefox"
  ).split(" "),
);
