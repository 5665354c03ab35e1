/** As people type it into a browser: without a scheme it is https. What is no web address stays as it is, to be refused. */
export function webAddress(given: string): string {
  const text = given.trim();
  if (/^[a-z][a-z0-9+.-]*:/i.test(text) && !/^[\w.-]+:\d+(?:[/?#]|$)/.test(text)) return text;
  return text.startsWith("/") || text === "" ? text : `https://${text}`;
}
