// Written by `npm run build` from src/plugins/<name>/plugin.yaml. Change those, not this.
import type { BundledPlugin } from "./manifest-types.js";

export const bundledPlugins: readonly BundledPlugin[] = [
  {
    "name": "honcho",
    "version": "1.0.0",
    "description": "What Honcho knows about the person, over sessions and programs",
    "tools": [
      "honcho_conclude",
      "honcho_context",
      "honcho_profile",
      "honcho_reasoning",
      "honcho_search",
    ],
  },
  {
    "name": "rl",
    "version": "1.0.0",
    "description": "Trains models by reinforcement learning with the command of the setting rl.command",
    "tools": [
      "rl_check_status",
      "rl_edit_config",
      "rl_get_current_config",
      "rl_get_results",
      "rl_list_environments",
      "rl_list_runs",
      "rl_select_environment",
      "rl_start_training",
      "rl_stop_training",
      "rl_test_inference",
    ],
  },
];
