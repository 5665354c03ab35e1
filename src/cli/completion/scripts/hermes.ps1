# PowerShell completion for hermes
Register-ArgumentCompleter -Native -CommandName hermes, hermes-tools -ScriptBlock {
    param($word, $ast, $position)
    $line = $ast.ToString()
    $line = $line.Substring(0, [Math]::Min($line.Length, $position - $ast.Extent.StartOffset))
    if ($word -eq '') { $line += ' ' }
    & $ast.CommandElements[0].Value complete -- $line 2>$null | ForEach-Object {
        $value, $about = $_ -split "`t", 2
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
    }
}
