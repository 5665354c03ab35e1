# fish completion for hermes
function __hermes_complete
    set -l program (commandline -opc)[1]
    set -l found ($program complete -- (commandline -cp) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c hermes -f -a '(__hermes_complete)'
complete -c hermes-tools -f -a '(__hermes_complete)'
