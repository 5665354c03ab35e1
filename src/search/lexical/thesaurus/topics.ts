/** Words of one subject. They do not mean the same, but who says one often wants the other. One subject a line. */
export const TOPICS = `
weather forecast rain snow wind storm sunny cloudy umbrella humidity temperature celsius fahrenheit thunder lightning hail fog hurricane tornado precipitation climate warm cold hot degrees uv meteorology frost freeze ice
airquality pollution aqi smog pollen ozone pm25 emission carbon smoke
earthquake seismic quake magnitude tsunami volcano eruption epicenter tremor
disaster flood wildfire hurricane earthquake evacuation emergency rescue
stock share ticker equity market nasdaq nyse dow index trading trader invest investment portfolio dividend broker quote earnings ipo bull bear analyst etf gainer loser
crypto cryptocurrency bitcoin ethereum btc eth coin token blockchain wallet nft defi exchange mining dogecoin altcoin
currency exchange rate dollar euro pound yen rupee yuan forex usd eur gbp jpy inr cad aud convert conversion money
finance financial bank banking loan mortgage credit debt interest savings retirement pension budget invest fund asset wealth income expense tax money accounting
tax vat irs deduction income filing sales duty levy refund
loan mortgage interest amortization repayment borrow lender principal installment payoff emi apr
payment invoice bill pay charge refund checkout stripe paypal card receipt transaction billing subscription customer
accounting ledger bookkeeping invoice expense balance audit payroll
shopping shop buy purchase product store cart order price discount deal coupon retailer ecommerce amazon ebay checkout item brand catalog wishlist buyer seller merchandise headphones laptop
fashion clothes clothing apparel dress shirt shoes outfit wear style wardrobe jacket jeans sneakers garment accessory
beauty cosmetic makeup skincare hair lipstick perfume salon
gift present birthday christmas anniversary wedding valentine surprise
job career employment resume cv interview salary hiring recruiter candidate vacancy position employer freelance internship applicant linkedin talent
company business corporation firm startup enterprise brand competitor industry ceo revenue employee headquarters founder
customer crm lead sales contact prospect deal pipeline hubspot salesforce client account opportunity
marketing advertising campaign ad ads seo audience brand promotion ppc adwords newsletter conversion engagement copywriting slogan
seo keyword backlink ranking serp website traffic google optimization domain
social twitter tweet facebook instagram tiktok linkedin reddit post follower hashtag influencer feed like share timeline youtube
news headline article journalist press breaking media newspaper event story current
travel trip vacation holiday tourist tourism itinerary destination hotel flight sightseeing attraction visa passport luggage backpacking journey landmark getaway guide
hotel accommodation lodging airbnb hostel resort room booking stay checkin guest reservation motel apartment
flight airline airport plane airplane aircraft aviation boarding departure arrival layover ticket pilot gate fly
train railway subway metro station bus transit transport tram commute route timetable schedule passenger
car vehicle automobile auto suv sedan truck drive driver dealer mileage motor engine fuel garage tesla ev toyota honda ford
fuel gas petrol gasoline diesel station price pump
electric ev charger charging tesla battery
parking carpark lot garage space
traffic road congestion highway speed accident jam camera
map location direction route navigation address place nearby distance gps latitude longitude coordinate geocode geography street landmark elevation waypoint
city town country region capital population state province continent
house home property realestate apartment rent rental mortgage housing buy listing bedroom landlord tenant condo estate realtor neighborhood
furniture sofa chair decor interior room renovation
restaurant dining food eat cuisine menu dinner lunch brunch reservation cafe pizza sushi chef table bar bistro
food meal dish eat cuisine ingredient cooking recipe snack dessert vegetable fruit meat
recipe cook cooking ingredient dish bake kitchen meal chef dinner breakfast chicken pasta cake soup salad egg flour oven
diet nutrition calorie protein carb fat vitamin weight vegan keto healthy meal food fiber sugar
drink beverage wine beer cocktail coffee tea alcohol whiskey brewery juice
health medical doctor hospital disease symptom treatment patient medicine clinic illness healthcare diagnosis wellness nurse physician pain therapy
medicine drug medication dosage prescription pharmacy pharmaceutical pill tablet vaccine antibiotic aspirin ibuprofen
disease infection virus covid flu cancer diabetes epidemic pandemic outbreak syndrome
mental anxiety depression stress therapy counseling mindfulness meditation psychology psychologist mood
fitness workout exercise gym training muscle yoga running cardio strength coach athlete hiit bodybuilding stretching reps
run ride cycling running marathon pace strava activity athlete workout segment
sleep insomnia nap bedtime dream
pregnancy baby birth infant maternity parenting toddler
dentist tooth teeth dental
genetics gene dna genome protein mutation chromosome rna sequence
biology cell organism species evolution bacteria enzyme
animal pet dog cat puppy kitten veterinary vet breed wildlife zoo bird horse
plant flower garden gardening tree seed soil houseplant watering herb botany
farm agriculture crop harvest livestock farmer yield irrigation cattle
ocean sea marine harbour ferry wave surf tide beach coast coastal sailing boat ship swell diving
space astronomy planet star nasa galaxy rocket satellite astronaut orbit mars moon telescope universe asteroid cosmos nebula
physics force velocity acceleration energy momentum gravity mass newton kinetic motion friction electric magnetic quantum wavelength
chemistry chemical molecule atom compound reaction element acid molar periodic solution bond
math mathematics calculate equation algebra calculus arithmetic number sum formula trigonometry sin cos tan sqrt logarithm geometry statistics solve integral derivative multiply divide
geometry triangle circle rectangle square radius diameter perimeter circumference area volume polygon hypotenuse angle cylinder sphere cube
statistics mean median mode average variance deviation probability distribution regression correlation hypothesis sample percentile quartile
matrix vector eigenvalue determinant linear transpose dot product
prime factor factorial fibonacci gcd lcm divisor multiple permutation combination
unit convert kilometer mile kilogram pound celsius fahrenheit meter feet inch liter gallon ounce measurement
date time calendar day month year timezone clock hour minute timestamp utc today tomorrow yesterday weekday now duration
calendar event meeting appointment schedule invite reminder agenda availability free busy attendee reschedule slot booking
reminder todo task alarm checklist deadline list due note remember
note notebook notes notion obsidian memo journal diary evernote markdown vault
habit routine goal productivity motivation daily tracker progress
decision choice choose pros cons option
project task milestone sprint backlog kanban asana trello jira linear ticket board card assignee epic issue subtask
email mail inbox gmail outlook message recipient attachment draft newsletter sender subject smtp spam mailbox
message chat sms text slack whatsapp telegram discord conversation channel send dm thread notify teams
call phone telephone dial voicemail caller contact ring zoom
meeting zoom call conference webinar video recording transcript minutes
file folder directory path rename upload download disk filesystem size content extension
document pdf word docx page report paper text contract scan ocr
spreadsheet excel sheet csv row column cell table workbook formula airtable
presentation slide powerpoint deck
image picture photo photograph png jpg jpeg camera resize crop filter graphic illustration drawing visual pixel thumbnail unsplash art screenshot
video youtube clip movie footage film mp4 stream channel subtitle transcript watch edit animation
audio sound music voice speech mp3 podcast record song listen wav noise narration
speech voice tts speak transcription transcribe pronunciation spoken audio dictation
music song artist album playlist band concert lyrics melody guitar piano spotify track singer genre chord tempo listen instrument musician tune sing choir orchestra
movie film cinema actor director tv show series episode watch netflix streaming imdb trailer cast genre season hollywood rating credits character
tv television show series episode channel season streaming watch broadcast
book novel author read library literature isbn publisher chapter fiction bestseller reading story
story fiction tale fairy narrative character plot storytelling writing write storybook bedtime
poem poetry verse rhyme haiku
writing essay article blog content grammar paragraph rewrite paraphrase draft proofread edit copy tone
translate translation language english spanish french german chinese japanese korean italian multilingual bilingual foreign phrase
learn course education lesson tutorial student teacher school university class study training quiz exam tutor learning degree skill curriculum homework online
exam test quiz ielts toefl sat question practice score prep grade
research paper academic study journal arxiv pubmed citation scholar publication literature scientific author abstract thesis science
dictionary word definition meaning synonym antonym vocabulary spelling etymology thesaurus rhyme
wikipedia encyclopedia knowledge fact article history
history historical century ancient war empire timeline event era medieval
art artwork painting museum artist gallery sculpture exhibition drawing masterpiece
design logo color font layout ui ux figma template creative graphic mockup
chart graph plot diagram visualization bar pie line scatter histogram axis draw visualize trend
diagram flowchart mindmap uml graph network hierarchy organization tree
game play player gaming level score quest video steam xbox playstation nintendo multiplayer character
chess checkers sudoku puzzle crossword board tictactoe riddle move solve brain
puzzle riddle brainteaser crossword sudoku maze clue
card deck poker blackjack tarot magic
dice roll random coin flip lottery chance
sport football soccer basketball baseball hockey tennis cricket match team league score player game tournament season champion goal fixture standings nba nfl mlb nhl premier athlete coach stadium
ticket concert event show theater seat venue festival performance
party wedding event celebration birthday invitation guest
horoscope astrology zodiac leo aries taurus gemini virgo libra scorpio sagittarius capricorn aquarius pisces cancer star sign
tarot fortune psychic divination oracle
religion bible quran god prayer faith church islam christian verse scripture spiritual buddhist hindu
joke funny humor meme laugh comedy pun gif
quote inspiration motivation wisdom saying
law legal court judge lawyer attorney legislation case statute contract rights crime lawsuit sue litigation regulation
crime police criminal murder theft fraud arrest
politics government election vote president senator congress parliament party policy minister bill legislation campaign democracy speech
census population demographic income age resident statistics survey
charity nonprofit donate donation volunteer fundraising
patent trademark copyright intellectual invention
insurance policy premium claim coverage
energy power electricity solar wind renewable battery grid watt voltage current circuit ohm
environment climate carbon emission sustainability recycling green ecosystem conservation
construction building architecture engineer concrete beam structure
manufacturing factory production machine supply industrial
shipping package parcel delivery courier track shipment logistics freight carrier warehouse fedex ups dhl usps
inventory stock warehouse product supply quantity sku
smart home light lamp thermostat device iot lock door alexa bulb switch appliance temperature camera
robot drone automation sensor actuator
web website webpage site page html internet browser url online link http domain
browser page click navigate tab screenshot element scroll form button chrome playwright puppeteer selenium dom selector url
scrape crawl extract webpage html content url parse website spider
search google bing web internet query engine result online duckduckgo brave
domain dns whois registrar hostname nameserver ip subdomain url
ip network ping port traceroute geolocation vpn proxy subnet
security vulnerability password hack breach malware phishing attack threat firewall encryption scan virus leak exploit cve
login password authentication oauth account credential token user signin session auth permission
encrypt decrypt hash cipher encryption key aes rsa md5 sha base64 encode decode
database sql query table postgres mysql mongodb schema index row record sqlite select join column nosql redis
server cloud aws azure gcp deploy instance hosting vm ssh infrastructure linux
kubernetes k8s pod cluster deployment node namespace helm container service replica kubectl
docker container image volume compose registry
deploy deployment release pipeline ci build hosting rollback production staging
git github repository commit branch pull merge pr clone fork issue code repo gitlab diff push
code programming python javascript java function script debug developer software snippet algorithm compile syntax html css
test testing unit bug debug flaky failure assertion
api endpoint http rest request webhook json graphql post get
log error exception trace monitor debug stack sentry datadog crash
monitor metric alert uptime dashboard incident performance latency grafana
performance speed latency memory cpu profiling optimize benchmark trace slow
shell terminal command bash script ssh execute process
workflow automation trigger zapier integration automate pipeline n8n connect
ai llm gpt model prompt chatbot embedding inference generate openai neural machine learning
ml train model dataset classifier regression neural predict accuracy deep
data dataset csv analysis analytics statistics visualize table chart
sentiment emotion opinion tone mood positive negative feeling
text string word character count length uppercase lowercase substring
qr barcode code scan
survey form questionnaire poll quiz question response feedback
review rating feedback opinion customer star testimonial
recommendation suggest recommend similar personalized
memory remember recall entity knowledge graph observation
contact address phone name vcard person
password generator random secure
color hex rgb palette
font ascii typography text
theme park ride attraction disney queue wait rollercoaster
anime manga character japanese
superhero marvel comic
pokemon character stats
language tutor speak learn conversation pronunciation vocabulary fluent
human person people name age gender birthday
family parent child kid mother father
dating love relationship partner romance
name baby meaning generator
time travel history
`;
