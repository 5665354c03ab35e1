# One script, which then ends as any Python program does: threads, atexit, exit code. Follows python-common.py.
def tell_failure(kind, error, trace):
    text, line = described(kind, error, trace)
    sys.stderr.write(text)
    channel.send(b"x", json.dumps({"error": line}).encode("ascii"))

def run_script():
    set_stdin(config["stdin"])
    install_tools(config["tools"])
    remember_source("<script>", config["code"])
    sys.excepthook = tell_failure
    names = main_module()
    channel.send(b"h", b"")
    exec(compile(config["code"], "<script>", "exec", dont_inherit=True), names)

run_script()
