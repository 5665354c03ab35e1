export const PAGE_STYLE = `:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --panel: #ffffff; --text: #1c1e21; --quiet: #565c64; --line: #d9dcdf;
  --good: #176639; --warn: #8a4b00; --bad: #a61b1b; --accent: #1b4fa0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15171a; --panel: #1d2024; --text: #e8eaed; --quiet: #a8afb8; --line: #363b42;
    --good: #6fd39a; --warn: #f0b463; --bad: #ff9a94; --accent: #9cc2ff;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
header, main, footer { max-width: 72rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 1.25rem; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0; }
a { color: var(--accent); }
code { font: .9em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.quiet, footer { color: var(--quiet); }
footer { padding-top: 2rem; padding-bottom: 2rem; font-size: .9rem; }
.empty, .notice { background: var(--panel); border: 1px solid var(--line); border-radius: .4rem; padding: 1rem; }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
#approvals-list { list-style: none; margin: 0; padding: 0; }
#approvals-list li { background: var(--panel); border: 1px solid var(--warn); border-radius: .4rem; padding: .75rem 1rem; margin: 0 0 .5rem; unicode-bidi: isolate; }
#approvals-list pre { margin: .4rem 0; max-height: 20rem; overflow: auto; font: .9em/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
button { font: inherit; padding: .35rem .8rem; margin-right: .5rem; color: var(--text); background: var(--ground); border: 1px solid var(--quiet); border-radius: .3rem; }
table { width: 100%; border-collapse: collapse; background: var(--panel); border: 1px solid var(--line); }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
thead th { color: var(--quiet); font-size: .85rem; min-width: 6.5rem; }
thead th:first-child { min-width: 10rem; }
td, th { overflow-wrap: anywhere; unicode-bidi: isolate; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
#calls td:nth-child(4) { white-space: nowrap; }
[hidden] { display: none !important; }
@media (max-width: 40rem) {
  table, tbody, tr, th, td { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { border-bottom: 1px solid var(--line); padding: .4rem 0; }
  th, td { border: 0; padding: .1rem .6rem; }
  .number { text-align: left; }
  #calls td:nth-child(n + 3) { display: inline-block; color: var(--quiet); font-size: .9rem; }
}
`;
