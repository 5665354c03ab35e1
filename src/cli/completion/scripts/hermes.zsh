#compdef hermes hermes-tools
# zsh completion for hermes: source it, or put it as _hermes into a folder of $fpath.
_hermes() {
    local value about
    local -a whole begun
    while IFS=$'\t' read -r value about; do
        if [[ $value == *= ]]; then begun+=("$value"); else whole+=("${value//:/\\:}:$about"); fi
    done < <("$words[1]" complete -- "${(j: :)words[1,CURRENT-1]} $PREFIX" 2>/dev/null)
    if (( $#whole + $#begun == 0 )); then
        _files
        return
    fi
    # The value of an argument follows at once.
    (( $#begun )) && compadd -S '' -- $begun
    (( $#whole )) && _describe hermes whole
}
if [[ $funcstack[1] == _hermes ]]; then
    _hermes "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
    compdef _hermes hermes hermes-tools
fi
