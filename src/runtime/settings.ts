import { TOOL_SECTIONS } from "../config/tool-settings.js";
import type { LoadedConfig } from "../config/types.js";

/** What a tool may read of the configuration: its own section, and what all share. */
export function settingsReader({
  values,
  paths,
}: LoadedConfig): (tool: string) => Readonly<Record<string, unknown>> {
  const shared = {
    ...toolSections(values),
    hermes_home: paths.home,
    archives: values.archives,
    file_read_max_chars: values.file_read_max_chars,
    terminal_timeout: values.terminal.timeout,
    max_foreground_timeout: values.terminal.max_foreground_timeout,
    max_output_chars: values.tool_output.max_bytes,
    code_execution: values.code_execution,
    env_passthrough: values.terminal.env_passthrough,
  };
  return (tool) => {
    const own = Object.hasOwn(values.tool_settings, tool) ? values.tool_settings[tool] : undefined;
    // What is shared comes last, so that a tool's own section cannot loosen what the security section says.
    return { ...(typeof own === "object" && own !== null ? own : {}), ...shared };
  };
}

function toolSections(values: LoadedConfig["values"]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([section]) => TOOL_SECTIONS.has(section)));
}
