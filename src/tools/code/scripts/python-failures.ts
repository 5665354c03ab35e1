/** Failures as the author of the script knows them, and the module that the script is. */
export const PYTHON_FAILURES = `
def remember_source(name, source):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)

OURS = ("<hermes>", "<hermes_tools>")

def described(kind, error, trace):
    """The traceback as the script's author knows it, and its last line."""
    import traceback

    # The first frame is the line of the shell that starts this program.
    while trace is not None and trace.tb_frame.f_code.co_filename in OURS + ("<string>",):
        trace = trace.tb_next
    whole = traceback.TracebackException(kind, error, trace)
    seen, waiting = set(), [whole]
    while waiting:
        part = waiting.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        part.stack = traceback.StackSummary.from_list(
            [frame for frame in part.stack if frame.filename not in OURS]
        )
        waiting += [part.__cause__, part.__context__] + list(getattr(part, "exceptions", None) or [])
    said = "".join(whole.format_exception_only()).strip()
    return "".join(whole.format()), said.splitlines()[-1] if issubclass(kind, SyntaxError) else said

def main_module():
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    sys.argv = [""]
    if HERE is not None:
        sys.path.insert(0, HERE)
    return main.__dict__
`;
