const LOGGING = "a feature on its way out of the protocol (SEP-2577), so the server does not declare logging";
const SAMPLING = "on its way out of the protocol (SEP-2577): a tool does not ask the client's model";
const COMPLETION = "completes arguments of prompts and resource templates, and the server offers neither";
const RESOURCES = "the server offers tools, no resources";
const PROMPTS = "the server offers tools, no prompts";
const OWN_FORM =
  "wants a form of the tool's own design; here a tool asks with `ctx.ask`, one question with or without choices";

/** Scenarios of the public suite that are about something this server does not offer, each with the reason. */
export const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  "logging-set-level": LOGGING,
  "tools-call-with-logging": LOGGING,
  "tools-call-sampling": SAMPLING,
  "completion-complete": COMPLETION,
  "elicitation-sep1034-defaults": OWN_FORM,
  "elicitation-sep1330-enums": OWN_FORM,
  "resources-list": RESOURCES,
  "resources-read-text": RESOURCES,
  "resources-read-binary": RESOURCES,
  "resources-templates-read": RESOURCES,
  "resources-subscribe": RESOURCES,
  "resources-unsubscribe": RESOURCES,
  "prompts-list": PROMPTS,
  "prompts-get-simple": PROMPTS,
  "prompts-get-with-args": PROMPTS,
  "prompts-get-embedded-resource": PROMPTS,
  "prompts-get-with-image": PROMPTS,
};
