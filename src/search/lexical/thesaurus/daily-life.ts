/** Money, work, travel, health, home, learning and play: words for one and the same thing, a line each. */
export const DAILY_LIFE = `
price cost rate fee charge fare amount
cheap affordable budget inexpensive
discount coupon deal promo voucher offer bargain
money cash currency
currency forex exchange
stock share equity ticker
stock equities market
market exchange
portfolio holdings
investment asset
gain profit
gainer winner riser
loser decliner
loss deficit
fundamentals financials
option derivative
finance financial money
economy economic gdp
loan mortgage credit
debt liability loan
tax vat levy
salary wage pay compensation income earnings
revenue income sales turnover
profit gain earnings margin
expense cost spending expenditure
invoice bill receipt
payment transaction
refund reimbursement chargeback
repay payoff repayment amortization
subscription plan membership
insurance coverage policy
retirement pension
inflation cpi
company business firm corporation enterprise
organization company institution agency
startup company business
employee staff worker personnel
customer client buyer consumer shopper
crm customer contact
supplier vendor provider
seller vendor merchant
product item goods merchandise
inventory stock supply
cart basket
shop store shopping retail
job career employment occupation vacancy position
resume cv curriculum
freelance freelancer contractor
meeting appointment event
appointment booking meeting
event occasion happening
invitation invite
calendar schedule agenda
timetable schedule
free available availability
busy occupied
time clock hour
day daily date
week weekly
month monthly
year yearly annual
weekend saturday sunday
duration length period
deadline due
vacation holiday trip
birthday anniversary
weather forecast climate meteorological
temperature heat warm cold hot degrees
historical past history previous
rain precipitation rainfall
wind breeze gust
storm hurricane cyclone tornado thunderstorm
humidity moisture
pollution smog emission
smoke pollution
earthquake seismic quake
flood flooding
disaster emergency catastrophe
fire wildfire blaze
ocean sea marine
wave surf swell
coast shore beach coastal
plant flower
garden gardening
pet animal
dog puppy canine
cat kitten feline
farm agriculture farming
food meal dish cuisine
recipe dish
restaurant dining eatery cafe diner
lunch dinner breakfast meal
nutrition diet nutritional
calorie energy
vegetarian vegan
grocery groceries supermarket
ingredient component
substitute replacement alternative
alcohol liquor
health medical wellness healthcare
medicine drug medication pharmaceutical
doctor physician
hospital clinic
disease illness condition disorder
treatment therapy cure
vaccine vaccination immunization
fitness workout exercise gym
mental psychological
emotion feeling mood sentiment
gene dna genetic genome
heart cardiac
cancer tumor oncology
covid coronavirus covid19
trip journey travel tour vacation itinerary
tourist tourism sightseeing
attraction landmark sight
hotel accommodation lodging stay
apartment flat condo
house home property housing
realestate property
rent lease rental
flight airline plane airplane
plane aircraft airplane
train railway rail
subway metro underground
taxi cab
car vehicle automobile auto suv
truck lorry
bicycle bike cycling
ship boat vessel ferry
parking carpark
traffic congestion
road street highway
route path direction
direction route navigation
map geographic
location place position
venue location place
coordinate latitude longitude gps
geocode coordinate address
geocode latitude longitude
elevation altitude height
distance far
nearby near close nearest closest local
region area zone
city town municipality
country nation
state province
zip postcode zipcode postal
fuel gas petrol gasoline
power electricity energy
book novel
author writer
story tale narrative
poem poetry verse
quote quotation saying
article post
news headline
blog post article
magazine publication
journal periodical
paper publication article study
research study
academic scholarly scientific
citation reference bibliography
education learning educational
school college
university college
course class lesson tutorial
student pupil learner
teacher instructor tutor educator
exam test
word term
vocabulary words
definition meaning
synonym thesaurus
language linguistic
joke humor funny
puzzle riddle brainteaser
dice die
sport sports athletic
football soccer
match game fixture
score result
team club
player athlete
run jog running
ride cycling
activity workout exercise
league tournament championship
standing ranking leaderboard
movie film cinema
show series
tv television
episode season
actor actress cast star
cast crew credits
trailer video teaser
celebrity star famous
streaming stream watch
song track music tune
album record
artist musician singer
lyric lyrics
concert gig
theater theatre
ticket admission
museum gallery
art artwork painting
fashion style clothing apparel
clothing clothes apparel garment outfit
shoe sneaker footwear
jewelry jewellery
beauty cosmetic makeup
gift present
baby infant
child kid children
person people human
friend buddy
religion faith
horoscope astrology zodiac
love romance
wedding marriage
law legal legislation statute
lawyer attorney
crime criminal offense
government political
politics political government
election vote
congress parliament senate
policy regulation rule
regulation rule compliance
license licence permit
population demographic inhabitants
resident inhabitant
charity nonprofit
history historical
space astronomy
speed velocity
weight mass
math mathematics arithmetic
equation formula
area surface
volume capacity
triangle triangular
circle circular
derivative differentiate
integral integrate
probability chance odds likelihood
average mean
standard deviation variance
remainder modulo mod
percentage percent
ratio fraction
digit number
greatest largest highest maximum biggest max top
smallest lowest minimum least min
root sqrt square
gcd divisor
power exponent
unit measurement
kilometer km
kilogram kg
meter metre
liter litre
light lamp lighting bulb
thermostat temperature
furniture sofa
habit routine
goal target objective
note memo
diary journal
idea concept inspiration
decision choice
rating score review
feedback review
tip advice guidance
guide tutorial manual handbook
trend popular trending
recent latest new
upcoming future next
package parcel shipment
delivery shipping
warehouse storage
construction building
machine equipment
risk danger hazard
accident crash
age old
size dimension large big
fast quick
`;
