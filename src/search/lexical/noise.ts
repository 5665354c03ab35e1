/** Words that never tell one tool from another. */
const STOP = words(`
  a an the this that these those there here
  i me my mine myself we our ours us you your yours yourself he him his she her hers it its itself they them
  their theirs someone something anything everything anyone everyone somebody
  is am are was were be been being isnt arent wasnt
  do does did doing done dont doesnt didnt have has had having havent hasnt
  will would shall should can could may might must cant couldnt wont wouldnt shouldnt cannot
  im ive id ill youre youve youd theyre thats whats theres lets hes shes weve
  of to in for with at by from into onto upon about as than via per between among through within without
  during over under against toward towards
  and or but nor so if then else because while although though whether either neither both
  what which who whom whose how why where when whenever whatever
  not no yes also too very just only even still yet already again ever never
  some any all each every other another such same own
  etc eg ie vs oh hey hi hello
`);

/** Said around a wish, never part of it. */
const POLITE = words(`
  please kindly thank thanks help assist assistance want wants wanted need needs needed like likes liked wish
  wondering wonder hope curious interested tell know let could able possible possibly appreciate greetings dear
  good great really quite much many lot lots chatbot chatgpt bot plugin sure ensure exactly actually simply easily
  firstly secondly thirdly finally lastly furthermore additionally moreover afterwards once first second third last
  trying try tried going go think feel seem come happen since until however therefore instead rather maybe perhaps
  currently specifically particularly looking would thing things stuff way ways on off up down out
`);

/** Said around many wishes; now and then it is one. */
const COMMON = words(`
  give gives given provide provides provided providing require requires required allow allows enable enables
  specific particular certain various several different regarding related relating concerning based according
  available ability sort kind kinds type types effectively quickly using use used uses make makes get gets getting
  got take taken keep put say mean work works working user users tool tools function functions functionality
  feature features application api apis task tasks multiple following below above named called titled name
  include includes including included comprehensive detailed detail details info information data result results
  returns return request requests requested receive desired existing current latest recent new best top popular
  capability capable capabilities functional service services platform utility system support supports supporting
  perform performs performing operation operations handle handles specified specify specifies input output option
  options appropriate suitable proper offer offers offering access interface ability general purpose complete full
  one two three ai assistant more most next before after now today soon near around
`);

/** Frequent in every kind of talk, so that a match says little even where a catalogue has the word but once. */
const EVERYDAY = words(`
  absolutely actual afternoon almost alone along always amazing apart appear aspect away awesome back bad
  badly basic beautiful become becoming begin behind believe better beyond big bit bring brief busy care
  cause challenge challenging chance clear clearly come completely concern confident consider consist cool
  crucial curiosity decide deep definitely depend difficult difficulty early easy effective efficient effort
  else end enjoy enough entire especially essential evening exact excellent exciting expect experience
  extremely face fact fall familiar fantastic far fast favorite feeling few fine focus force forward fresh
  full fun generally girl guess guy half hand happy hard head hear heart high highly huge idea imagine
  important individual initial inside interesting involve involved large late lately lead leave left less
  life literally little long longer lose low lucky main major matter meaningful mention moment mood morning
  necessary nice night normal notable often old opportunity original outside overall part perfect personal
  piece point potential powerful prefer present pretty probably proper quick reach ready real realize reason
  recently remain right rush seek sense serious short side significant simple single sit situation small
  solid special spend stand stay strong struggle struggling success successful suffer sudden super surprise
  terrible together tonight touch tough true understand unique unknown urgent useful usual variety whole
  wide wonderful worry worth wrong young
`);

export interface NoiseWeights {
  readonly everyday: number;
  readonly polite: number;
  readonly common: number;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

export function isStopWord(word: string): boolean {
  return STOP.has(word);
}

/** How much a word of a request says about the tool that is wanted, from 0 to 1, whatever the catalogue. */
export function meaningOf(word: string, weights: NoiseWeights): number {
  if (POLITE.has(word)) return weights.polite;
  if (COMMON.has(word)) return weights.common;
  return EVERYDAY.has(word) ? weights.everyday : 1;
}
