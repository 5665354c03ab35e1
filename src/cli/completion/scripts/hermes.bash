# bash completion for hermes. Sourcing it again changes nothing, and it needs no other completion package.
__hermes_complete() {
    local line="${COMP_LINE:0:COMP_POINT}" value
    local word="${line##*[[:space:]]}" before=""
    # Bash takes what stands behind = or : for the word to complete.
    case "$COMP_WORDBREAKS" in *=*) before="${word%"${word##*[=:]}"}" ;; esac
    COMPREPLY=()
    while IFS=$'\t' read -r value _; do
        COMPREPLY+=("${value#"$before"}")
        # The value of an argument follows at once. Bash 3 knows no compopt and adds a blank.
        case "$value" in *=) compopt -o nospace 2>/dev/null ;; esac
    done < <("${COMP_WORDS[0]}" complete -- "$line" 2>/dev/null)
}
complete -o default -F __hermes_complete hermes hermes-tools
