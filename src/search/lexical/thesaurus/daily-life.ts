/** Money, travel, health, home, learning and play. */
export const DAILY_LIFE = `
price cost rate fee charge fare amount
cheap affordable budget inexpensive low-cost discount
expensive costly
discount coupon deal promo voucher offer sale bargain
money cash currency fund
currency money forex exchange
dollar usd currency
euro eur currency
stock share equity ticker
market exchange
portfolio holdings investment
investment invest asset
fund etf
dividend payout
option derivative
bond debt
finance financial money economy
economy economic gdp
bank banking
loan mortgage credit lending
mortgage loan
credit loan
debt loan liability
interest rate
tax vat duty
income salary wage earnings pay revenue
salary wage pay compensation
revenue income sales turnover
profit gain earnings margin
loss deficit
expense cost spending expenditure
budget spending
invoice bill receipt
bill invoice statement
receipt invoice
payment pay transaction
transaction payment transfer
transfer send
refund reimbursement chargeback return
subscription plan membership
insurance policy coverage
retirement pension
inflation cpi
company business firm corporation enterprise organization
business company enterprise commercial
startup company
organization organisation company institution
employee staff worker personnel
customer client buyer consumer shopper
supplier vendor provider
vendor seller supplier merchant
product item goods merchandise
inventory stock supply
order purchase
cart basket
shop store shopping retail market
store shop
sale selling
lead prospect
deal opportunity
job career employment work occupation vacancy position
resume cv curriculum
interview hiring
meeting appointment event conference
appointment meeting booking
event occasion happening activity
calendar schedule agenda
schedule timetable agenda calendar
reminder alarm notification
date day
time clock hour
timezone time
today now current
tomorrow next
yesterday past
day daily
week weekly
month monthly
year yearly annual
duration length period
period duration timeframe
deadline due
holiday vacation
birthday anniversary
weather forecast climate temperature meteorological
temperature heat thermometer weather
rain precipitation rainfall
snow ski
wind breeze
storm hurricane cyclone tornado
humidity moisture
climate weather environment
pollution air smog emission
air atmosphere
earthquake seismic quake
flood disaster
disaster emergency
emergency urgent crisis
fire wildfire
water ocean sea
ocean sea marine
wave surf tide
river stream
lake pond
mountain peak hill
beach coast shore
forest wood tree
plant flower garden gardening
garden gardening plant
animal pet wildlife
pet dog cat animal
dog puppy canine
cat kitten feline
bird avian
fish fishing
species animal
farm agriculture crop farming
crop harvest
soil ground
food meal dish cuisine
recipe cooking dish meal cook
ingredient component
restaurant dining eatery cafe diner food
menu dish
meal food breakfast lunch dinner
nutrition diet calorie nutrient
calorie energy
diet nutrition
vegetarian vegan
wine beer alcohol drink
coffee tea
cocktail drink
health medical wellness healthcare
medical health clinical medicine
medicine drug medication pharmaceutical prescription
drug medication pharmaceutical
doctor physician clinician
patient
hospital clinic
disease illness condition disorder
symptom sign
treatment therapy cure
therapy treatment
vaccine vaccination immunization
fitness workout exercise gym training
exercise workout
weight mass
height tall
bmi weight
sleep insomnia
mental psychology psychological
emotion feeling mood sentiment
sentiment emotion opinion
pregnancy maternal
gene dna genetic genome
protein amino
cell tissue
blood
heart cardiac
brain neural
cancer tumor
allergy allergic
covid coronavirus covid19 pandemic
travel trip tourism journey vacation itinerary
trip journey travel tour
tourist tourism sightseeing attraction
attraction landmark sight
landmark monument
hotel accommodation lodging stay room hostel
accommodation hotel lodging
apartment flat
house home property housing
property estate realestate house
room chamber
rent lease
flight airline plane airplane
airline carrier flight
airport terminal
plane aircraft airplane
aircraft airplane aviation
aviation flight
train railway rail
subway metro underground
bus coach
taxi cab ride
car vehicle automobile auto
vehicle car
truck lorry
bicycle bike cycling
ship boat vessel
parking carpark
traffic congestion
road street highway
route path direction way
direction route navigation
navigation route directions map
map location geographic
location place position whereabouts
place location venue
venue location place
address location
coordinate latitude longitude gps
latitude longitude coordinate
geocode coordinates address
distance far length
nearby near close nearest around closest
nearest closest nearby
region area zone
city town municipality
country nation
state province
zip postcode zipcode postal
fuel gas petrol gasoline
electric ev charging
charger charging
energy power electricity
electricity power
solar sun
book novel literature
novel book fiction
author writer
story tale narrative
poem poetry verse
quote quotation saying
article post story paper
news headline article
newspaper news press
blog post article
post article
magazine publication
publication paper journal
journal periodical
paper research publication article
research study academic scholarly
academic scholarly
arxiv preprint paper
citation reference bibliography
science scientific
experiment trial
education learning school teaching
school education
university college
course class lesson tutorial
lesson class course
student pupil learner
teacher instructor tutor educator
exam test quiz
quiz trivia
flashcard card
homework assignment
word term vocabulary
dictionary definition meaning thesaurus
definition meaning
synonym thesaurus
pronunciation accent
language linguistic tongue
grammar syntax
joke humor funny
meme funny
riddle puzzle
puzzle crossword sudoku
crossword puzzle
game play
chess checkers
dice roll die
card deck
sport sports athletic
football soccer
soccer football
basketball nba
baseball mlb
hockey nhl
tennis
golf
match game fixture
score result
team club
player athlete
league tournament championship
tournament competition
standing ranking
ranking rank leaderboard
olympics games
movie film cinema
film movie
show series tv
tv television
series show
episode season
actor actress cast
director filmmaker
celebrity star famous
stream watch
anime manga
song track music
track song
album record
artist musician singer
musician artist
band group
playlist music
lyric lyrics song
concert gig
chord guitar
instrument guitar piano
podcast audio
radio station
theater theatre play
ticket admission
museum gallery
art artwork painting
painting artwork
artwork art
photograph photo
fashion style clothing apparel
clothing clothes apparel garment wear
shoe sneaker
jewelry ring
beauty cosmetic makeup
gift present
toy game
baby infant
child kid
family parent
person people human
friend buddy
man male
woman female
age old
gender sex
religion faith
bible scripture
horoscope astrology zodiac
astrology horoscope zodiac
tarot fortune
dream
love romance
dating
wedding marriage
law legal legislation statute
legal law
lawyer attorney
court judge
judge court
case lawsuit
crime criminal
police
government political public
politics political government
election vote
president leader
politician congress
congress parliament senate
policy regulation
regulation rule compliance
rule regulation
license licence permit
patent trademark
census population
population demographic
charity nonprofit donation
military army
war battle
history historical past
historical history
culture cultural
space astronomy
astronomy space star
planet
star stellar
moon lunar
sun solar
satellite orbit
rocket launch
nasa space
physics physical
force newton
velocity speed
acceleration
mass weight
chemistry chemical
molecule compound
element
reaction
biology
math mathematics arithmetic
equation formula
formula equation
algebra equation
geometry shape
area surface
volume capacity
circle
triangle
square
angle degree
matrix
vector
derivative differentiate
integral integrate
probability chance odds likelihood
average mean
median middle
deviation variance
regression
correlation
prime
factorial
factor divisor
fraction ratio
percentage percent
number digit
random
unit measurement
convert conversion
length distance
kilometer km
mile
kilogram kg
celsius fahrenheit
home house
furniture sofa
kitchen cooking
light lamp lighting
lamp light
thermostat temperature
lock door
door gate
window
clean cleaning
laundry
appliance device
security alarm
neighborhood district
habit routine
goal target objective
note memo
diary journal
idea concept
decision choice
opinion view
review rating
rating score review
feedback review
advice tip recommendation guidance
tip advice
guide tutorial manual handbook
manual guide
instruction guide
help support
support help
question query
problem issue
trend popular trending
popular trending
latest recent new
upcoming future
package parcel
parcel package
delivery shipping
tracking track
warehouse storage
logistics shipping
factory manufacturing
manufacturing production
construction building
building construction
architecture building
engineer engineering
material
metal steel
machine equipment
tool instrument
`;
