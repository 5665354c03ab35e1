import { nodeFrom } from "../../config/node.js";
import { readRules } from "./read-rules.js";
import type { WrittenProfile } from "./types.js";

/** The profiles that are always there; a file may define one of these names anew. */
const BUILT_IN = {
  default: {
    description: "Everything is allowed; what is dangerous is asked about",
    allow: ["*"],
  },
  readonly_research: {
    description: "Look things up and read files, change nothing",
    allow: ["network:search", "network:fetch", "file:read"],
    deny: ["file:write", "file:delete", "terminal:execute"],
  },
  full_developer: {
    description: "Everything but the environment; writes only below /workspace and /tmp",
    allow: ["*"],
    deny: ["env:write"],
    restrictions: {
      "file:write": {
        allowed_paths: ["/workspace/**", "/tmp/**"],
        denied_paths: ["/workspace/.env", "/workspace/secrets/**"],
      },
      "terminal:execute": { denied_commands: ["rm -rf /", ":(){ :|:& };:"] },
    },
  },
  production_deploy: {
    description: "Read git, fetch, and run containers after approval",
    allow: ["git:read", "docker:run", "network:fetch"],
    deny: ["terminal:execute", "file:delete"],
    approval_required: ["docker:run", "database:write"],
  },
} as const;

let read: readonly WrittenProfile[] | undefined;

export function builtInProfiles(): readonly WrittenProfile[] {
  read ??= readRules(nodeFrom({ profiles: BUILT_IN }), {
    file: "built-in",
    report: () => undefined,
  }).profiles;
  return read;
}
