// A catalogue of any size, made of word lists: names, descriptions and parameters as servers and plugins write them.

const VERBS = {
  create: "Creates a new",
  get: "Returns the details of one",
  list: "Lists every",
  search: "Searches for a",
  update: "Changes the fields of an existing",
  delete: "Removes a",
  archive: "Archives a",
  share: "Shares a",
  export: "Exports a",
  import: "Imports a",
  validate: "Checks that a given",
  schedule: "Schedules a",
  assign: "Assigns somebody to a",
  merge: "Merges two versions of a",
  summarize: "Writes a short summary of a",
  compare: "Compares two versions of a",
  restore: "Restores a deleted",
  subscribe: "Sends notifications about a",
  count: "Counts how often there is a",
  translate: "Translates the text of a",
};
const THINGS = words(`
  account address agreement airport album alert animal answer appointment article artist asset audience backup badge
  balance banner battery benchmark bill board book booking branch budget building bundle business calendar call camera
  campaign card career cart case category certificate channel charge chart checklist city claim client cluster comment
  commit company conference contact container contract conversation country coupon course credential currency customer
  dashboard dataset deadline deal delivery deployment design device diagram discount disease document domain donation
  draft driver earthquake election email employee endpoint engine entity entry environment episode equation event exam
  exercise expense experiment facility farm feature feedback field file film firewall flight folder forecast form
  formula fund gallery game garden goal grant graph group guide habit holiday hospital hotel house image incident
  index ingredient insurance interview inventory invoice issue itinerary job journal journey keyword label language
  lease lecture ledger lesson library license listing loan location log machine mailbox manual map market match meal
  medicine meeting member memory menu message metric milestone model movie museum network newsletter node note
  notebook notification novel offer option order organization package page painting parcel passenger password patient
  payment permission person photo pipeline place plan planet player playlist podcast poem policy poll portfolio post
  prescription presentation price product profile project property protein purchase query question queue quote receipt
  recipe record refund region release reminder rental repository request reservation restaurant review reward robot role
  route rule salary sample schedule school score season secret segment sensor server session shipment shop signature
  skill slide snapshot song spreadsheet station stock store story student subscription supplier survey symptom
  tag task tax team template temperature tenant test thread ticket tournament track train transaction translation trial
  trip user vaccine vehicle venue version video visa volume voucher wallet warehouse weather website workflow workout
`);
const SERVICES = words(`
  acme atlas beacon cedar cobalt comet delta ember falcon fjord gecko glacier harbor hazel indigo iris jasper kestrel
  lagoon linden lotus maple meadow nimbus nova oasis onyx orchid pebble pine quartz raven ridge saffron sierra tempo
  tundra umber violet walnut willow zephyr
`);
const QUALITIES = words(`
  active annual archived automatic available complete confidential daily default detailed digital draft expired external
  final free global hidden historical internal latest local locked manual medical mobile monthly national nearby open
  optional overdue personal premium private public quarterly recent regional remote scheduled secure shared simple
  temporary urgent verified virtual weekly
`);
const PURPOSES = [
  "so that a team can follow what happens",
  "for the reports of the next quarter",
  "and keeps the history of earlier changes",
  "together with its owner and its state",
  "within the limits of the signed-in user",
  "sorted by date, newest first",
  "as structured data with a stable identifier",
  "and sends a message to everybody concerned",
  "using the filters that are given",
  "before it is published to customers",
];
const PARAMETERS = [
  ["id", "The identifier"],
  ["query", "What to look for"],
  ["limit", "The largest number of results"],
  ["start_date", "The first day, as YYYY-MM-DD"],
  ["end_date", "The last day, as YYYY-MM-DD"],
  ["title", "A short title"],
  ["description", "A longer text"],
  ["owner_email", "The address of the owner"],
  ["tags", "Labels to set"],
  ["language", "The language, such as en or de"],
  ["country_code", "Two letters of the country"],
  ["dry_run", "Only show what would be done"],
];
const REQUESTS = [
  (verb, thing, other) =>
    `Could you please ${verb} the ${thing} that I told you about for our ${other} next week?`,
  (verb, thing, other) =>
    `I need to ${verb} a ${thing}. After that, show me the latest ${other} in New York as well.`,
  (verb, thing, other) =>
    `We are preparing a ${other} and somebody should ${verb} its ${thing} before Friday, the 3rd of May.`,
  (verb, thing, other) =>
    `tool to ${verb} ${thing} records and find the ${other} with the identifier "A1B2C3" in the system`,
  (verb, thing, other) =>
    `What would be the quickest way to ${verb} every ${thing} of a ${other} and get informed about it?`,
];

/** Always the same for the same numbers. */
export function makeCatalogue({ size, seed }) {
  const random = generator(seed);
  const one = (list) => list[Math.floor(random() * list.length)];
  return Array.from({ length: size }, () => {
    const verb = one(Object.keys(VERBS));
    const [service, quality, thing, other] = [one(SERVICES), one(QUALITIES), one(THINGS), one(THINGS)];
    const parameters = Array.from({ length: 2 + Math.floor(random() * 4) }, () => one(PARAMETERS));
    const description = `${VERBS[verb]} ${quality} ${thing} of a ${other} ${one(PURPOSES)}. Works with ${one(QUALITIES)} ${one(THINGS)} records ${one(PURPOSES)}.`;
    return {
      name: `${service}_${verb}_${quality}_${thing}`,
      description,
      source: service,
      parameters: {
        type: "object",
        properties: Object.fromEntries([
          [`${thing}_id`, { type: "string", description: `The ${thing} to ${verb}` }],
          ...parameters.map(([name, text]) => [
            name,
            { type: "string", description: `${text} of the ${thing}` },
          ]),
        ]),
      },
    };
  });
}

/** Requests of about fifteen words, as people and models write them. */
export function makeRequests({ count, seed }) {
  const random = generator(seed);
  const one = (list) => list[Math.floor(random() * list.length)];
  return Array.from({ length: count }, () =>
    one(REQUESTS)(one(Object.keys(VERBS)), one(THINGS), one(THINGS)),
  );
}

function words(text) {
  return text.trim().split(/\s+/);
}

/** mulberry32. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
