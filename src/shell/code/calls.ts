/** What a known function does with its arguments. */
export type CallAction =
  | "delete"
  | "delete-tree"
  /** First argument is a command line, or a list of words; further texts are more words. */
  | "shell"
  /** First argument is the program, the second a list of its arguments. */
  | "program"
  /** Like `program`, behind a mode: `os.spawnl(mode, path, …)`. */
  | "mode-program"
  /** A terminal to talk to: `pty.spawn`. */
  | "open-shell"
  | "eval"
  | "open"
  | "read"
  | "write"
  | "truncate"
  | "copy"
  | "move"
  | "chmod"
  | "kill"
  | "fork"
  | "native"
  | "network"
  | "sql";

const ANY: Readonly<Record<CallAction, string>> = {
  delete:
    "os.remove os.unlink os.rmdir .unlink .rmdir send2trash.send2trash fs.unlink fs.unlinkSync fs.rmdir promises.unlink " +
    "promises.rmdir .unlinkSync File.delete File.unlink File.rm Dir.delete Dir.rmdir Dir.unlink FileUtils.rm FileUtils.rm_f " +
    "FileUtils.remove FileUtils.safe_unlink FileUtils.remove_file file.remove Files.delete Files.deleteIfExists Bun.unlink",
  "delete-tree":
    "shutil.rmtree .rmtree os.removedirs fs.rm fs.rmSync fs.rmdirSync promises.rm .rmSync .rmdirSync fs.remove fs.removeSync " +
    ".removeSync fs.emptyDir fs.emptyDirSync rimraf rimraf.sync rimrafSync rimraf.rimraf rimraf.rimrafSync del.deleteAsync " +
    "Deno.remove Deno.removeSync FileUtils.rm_r FileUtils.rm_rf FileUtils.rmtree FileUtils.remove_dir " +
    "FileUtils.remove_entry FileUtils.remove_entry_secure .rm_rf .rm_r File.rm_rf .remove_tree .deleteDir " +
    ".deleteRecursively .removeItem shelljs.rm shell.rm dir_util.remove_tree",
  shell:
    "os.system os.popen os.popen2 os.popen3 subprocess.run subprocess.call subprocess.check_call subprocess.check_output " +
    "subprocess.Popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput commands.getstatusoutput " +
    "asyncio.create_subprocess_shell asyncio.create_subprocess_exec posix.system nt.system " +
    "pexpect.run sh.Command child_process.exec child_process.execSync .execSync Bun.spawn Bun.spawnSync Bun.$ $ " +
    "shelljs.exec shell.exec execa.execaCommand execa.execaCommandSync execaCommand Kernel.system Kernel.exec Kernel.spawn " +
    "Process.spawn Process.exec IO.popen Open3.capture2 Open3.capture2e Open3.capture3 Open3.popen2 Open3.popen2e " +
    "Open3.popen3 shell_exec passthru proc_open os.execute io.popen os.cmd System.shell .execute_shell " +
    ".doShellScript getRuntime.exec Runtime.exec ProcessBuilder shell-command process.Process",
  program:
    "os.execv os.execve os.execvp os.execvpe os.execl os.execle os.execlp os.execlpe os.posix_spawn os.posix_spawnp " +
    "child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync .spawnSync " +
    ".execFileSync execa.execa execa.execaSync execa execaSync pcntl_exec Deno.Command Deno.run System.cmd system2",
  "open-shell": "pty.spawn pexpect.spawn code.interact code.InteractiveConsole PTY.spawn",
  "mode-program": "os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe",
  eval:
    "builtins.eval builtins.exec __builtins__.eval __builtins__.exec vm.runInThisContext vm.runInNewContext " +
    "vm.runInContext vm.Script Function .instance_eval .class_eval .module_eval binding.eval Eval.me " +
    "marshal.loads pickle.loads Marshal.load Meta.parse include_string timeit.timeit",
  open: "open io.open codecs.open os.open fopen File.open File.new fs.open fs.openSync gzip.open .open",
  read:
    "fs.readFile fs.readFileSync promises.readFile fs.createReadStream .readFileSync Deno.readTextFile " +
    "Deno.readTextFileSync Deno.readFile Bun.file File.read File.readlines File.binread File.foreach IO.read IO.readlines IO.foreach " +
    "IO.binread file_get_contents readfile io.lines readLines readlines .read_text .read_bytes .readFile Files.readString " +
    "linecache.getlines linecache.getline numpy.loadtxt numpy.genfromtxt numpy.fromfile read_file highlight_file show_source " +
    "netrc.netrc fileinput.input tomllib.load mmap.mmap io.FileIO io.open_code runpy.run_path json_decode_file parse_ini_file " +
    "parse_ini_string fgetcsv simplexml_load_file pandas.read_csv pandas.read_table pandas.read_json File.stream! CSV.read YAML.load_file",
  write:
    "fs.writeFile fs.writeFileSync fs.appendFile fs.appendFileSync fs.createWriteStream promises.writeFile " +
    "promises.appendFile .writeFileSync .appendFileSync fs.outputFile fs.outputFileSync Deno.writeTextFile " +
    "Deno.writeTextFileSync Deno.writeFile Bun.write File.write File.binwrite IO.write IO.binwrite file_put_contents " +
    ".write_text .write_bytes .touch writeLines os.mknod Files.write " +
    "Files.writeString File.write! urllib.request.urlretrieve urlretrieve FileUtils.touch",
  truncate:
    "fs.truncate fs.truncateSync os.truncate os.ftruncate fs.ftruncateSync File.truncate promises.truncate",
  copy:
    "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree fs.copyFile fs.copyFileSync fs.cp fs.cpSync fs.copy fs.copySync " +
    "promises.copyFile FileUtils.cp FileUtils.cp_r FileUtils.copy FileUtils.install Deno.copyFile os.symlink os.link " +
    "fs.symlinkSync fs.symlink fs.linkSync FileUtils.ln_s FileUtils.ln_sf File.symlink Files.copy",
  move:
    "shutil.move os.rename os.replace os.renames fs.rename fs.renameSync promises.rename FileUtils.mv FileUtils.move " +
    "File.rename Deno.rename Deno.renameSync fs.move fs.moveSync .rename .replace_path Files.move",
  chmod:
    "os.chmod fs.chmod fs.chmodSync promises.chmod File.chmod FileUtils.chmod FileUtils.chmod_R .chmod Deno.chmod Deno.chmodSync",
  kill: "os.kill os.killpg process.kill Process.kill posix_kill",
  fork: "os.fork fork pcntl_fork Process.fork Kernel.fork child_process.fork cluster.fork posix.fork",
  native:
    "ctypes.CDLL ctypes.cdll.LoadLibrary ctypes.PyDLL ctypes.WinDLL ctypes.string_at ctypes.memmove ctypes.windll cffi.FFI Fiddle.dlopen ffi.dlopen FFI.cdef Deno.dlopen bun:ffi.dlopen process.dlopen process.binding process._linkedBinding",
  network:
    "requests.get requests.post requests.put requests.patch requests.delete requests.request requests.head " +
    "requests.Session httpx.get httpx.post httpx.put httpx.request httpx.stream httpx.Client httpx.AsyncClient " +
    "urllib.request.urlopen urllib.urlopen urllib2.urlopen urlopen urllib.request.Request http.client.HTTPConnection " +
    "http.client.HTTPSConnection socket.socket socket.create_connection socket.gethostbyname socket.getaddrinfo " +
    "smtplib.SMTP smtplib.SMTP_SSL ftplib.FTP aiohttp.ClientSession fetch http.get http.request https.get https.request " +
    "axios axios.get axios.post axios.put axios.request axios.delete got got.post net.connect net.createConnection net.Socket " +
    "tls.connect dgram.createSocket dns.lookup dns.resolve dns.resolve4 dns.promises.lookup WebSocket undici.request " +
    "Net.HTTP.get Net.HTTP.post Net.HTTP.post_form Net.HTTP.start Net.HTTP.new HTTP.get HTTP.post URI.open OpenURI.open_uri TCPSocket.new " +
    "TCPSocket.open UDPSocket.new Socket.tcp LWP.UserAgent.new LWP.Simple.get HTTP.Tiny.new IO.Socket.INET.new curl_init curl_exec " +
    "curl_setopt fsockopen stream_socket_client socket_connect mail socket.http.request socket.tcp Deno.connect Bun.connect getstore getprint mirror",
  sql: ".execute .executescript .executemany .query .raw .exec .run .prepare .$executeRawUnsafe .execSQL mysqli_query pg_query PDO.exec",
};

/** Names that mean this only in one language: elsewhere they are methods of lists, patterns or shells. */
const BY_LANGUAGE: Readonly<Record<string, Partial<Record<CallAction, string>>>> = {
  python: {
    eval: "eval exec compile",
    shell: ".system .popen .check_output .check_call .getoutput",
    read: ".read .read_file netrc",
    network: "urlopen",
    "delete-tree": "rmtree",
  },
  javascript: {
    eval: "eval globalThis.eval window.eval global.eval",
    shell: "execSync",
    program: "spawnSync execFileSync",
    "delete-tree": "rmSync",
  },
  ruby: {
    shell: "system exec spawn syscall",
    eval: "eval",
    fork: "fork",
    kill: "kill",
    "delete-tree": "rm_rf rm_r",
  },
  perl: {
    delete: "unlink rmdir",
    "delete-tree": "rmtree remove_tree File.Path.rmtree File.Path.remove_tree",
    shell: "system exec readpipe syscall",
    eval: "eval evalbytes",
    kill: "kill",
    move: "rename move File.Copy.move",
    copy: "copy symlink link File.Copy.copy",
    chmod: "chmod",
    network: "get getstore socket connect",
  },
  php: {
    delete: "unlink rmdir",
    shell: "system exec popen",
    eval: "eval assert create_function",
    move: "rename",
    copy: "copy symlink link",
    chmod: "chmod",
    read: "file",
  },
};

const tables = new Map<string, ReadonlyMap<string, CallAction>>();

/** What the function `name` of this language does; undefined for all that do not matter here. */
export function actionOf(name: string, language: string): CallAction | undefined {
  const table = tables.get(language) ?? buildTable(language);
  const direct = table.get(name);
  if (direct !== undefined) return direct;
  const parts = name.split(".");
  if (parts.length < 2) return undefined;
  const last = parts.at(-1) ?? "";
  return table.get(`${parts.at(-2) ?? ""}.${last}`) ?? table.get(`.${last}`);
}

function buildTable(language: string): ReadonlyMap<string, CallAction> {
  const table = new Map<string, CallAction>();
  for (const source of [ANY, BY_LANGUAGE[language] ?? {}])
    for (const [action, names] of Object.entries(source) as [CallAction, string][])
      for (const name of names.split(" ")) table.set(name, action);
  tables.set(language, table);
  return table;
}
