// A site of pages and things they link to, in a process of its own: whoever asks does not pay for the answers.
// Started with the number of pages and of links on each; tells its port.
import { createServer } from "node:http";

const [pages, linksPerPage] = process.argv.slice(2).map(Number);

const page = (number) =>
  `<!doctype html><title>Page ${number}</title><p><a href="/">home</a> ${Array.from(
    { length: linksPerPage },
    (_, at) => `<a href="/thing-${number}-${at}">Thing ${at} of page ${number}</a> some words between them`,
  ).join("\n")}`;

const home = Array.from({ length: pages }, (_, at) => `<a href="/page-${at}">Page ${at}</a>`).join("\n");

const server = createServer(({ url, method }, response) => {
  const [, number] = /^\/page-(\d+)$/.exec(url) ?? [];
  const html = url === "/" ? home : number === undefined ? undefined : page(Number(number));
  const body = html ?? "a thing";
  response.writeHead(200, {
    "content-type": html === undefined ? "text/plain" : "text/html",
    "content-length": Buffer.byteLength(body),
  });
  response.end(method === "HEAD" ? undefined : body);
});
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
process.on("disconnect", () => process.exit());
