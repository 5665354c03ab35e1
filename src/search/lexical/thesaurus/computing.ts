/** Files, programs, networks and the work with them. */
export const COMPUTING = `
file document doc attachment
folder directory path
text string content words
document paper report file doc
image picture photo photograph pic graphic visual illustration
icon logo emblem symbol
video clip movie film footage
audio sound voice speech recording
speech voice spoken tts audio narration
music song track tune audio
gif animation animated
animation motion animate
screenshot screen capture snapshot
camera webcam
pdf document
spreadsheet excel sheet workbook xlsx csv table
slide presentation powerpoint deck pptx
table grid spreadsheet tabular
row record entry
column field attribute
cell box
chart graph plot diagram visualization
diagram flowchart schema drawing
database db datastore sql
sql query database
table collection dataset
dataset data corpus
data information info
record entry item
key identifier id
id identifier uid uuid guid key
uuid guid
name title label
title heading headline name
description summary details
metadata attributes properties info
property attribute field characteristic
type kind category class
list array collection
object entity item
map dictionary
json javascript-object
xml html markup
html webpage markup web
markdown md
web website site internet online webpage page
url link address uri href hyperlink
link url connection
domain hostname dns host whois
ip address
page webpage screen
browser chrome firefox webpage tab
tab window
cookie session
cache memory
search lookup find query
server host machine node instance
instance vm machine server
cluster kubernetes k8s
kubernetes k8s pod
container docker pod
image snapshot
cloud aws azure gcp
bucket s3 storage
storage disk drive space
memory ram
cpu processor core
gpu graphics
network net internet lan
wifi wireless network
port socket
proxy vpn
firewall security
security safety protection secure
vulnerability exploit weakness cve security
malware virus threat
threat attack risk
breach leak exposed hack
hack hacker breach intrusion
password passphrase credential secret passcode
credential password login secret
token key secret
certificate ssl tls cert
permission access privilege right role
user account member person profile
account profile user
profile account bio
member user participant
group team
team squad crew
admin administrator root
role permission
session conversation
log logs trace journal
error exception bug fault failure issue problem
bug issue defect error
issue ticket bug problem
ticket issue case
incident outage event alert
alert alarm notification warning
metric measurement statistic kpi
statistic stats statistics analytics metrics
analytics statistics insight metrics
dashboard panel board
report summary statement
status state condition health
state status
health status healthcheck
performance speed efficiency
speed velocity pace fast
latency delay lag
test check exam quiz
benchmark performance
code program source script snippet
script program code
program software app application
app application software program
software program application
package module library dependency
library package module
dependency package library
function method procedure
class type
variable parameter
constant fixed
parameter argument option setting
setting configuration option preference config
configuration config settings
environment env
version release revision
release version
branch fork
repository repo codebase project git github
git github repository version
github repo repository git
gitlab repository git
commit revision change
merge pullrequest
pr pullrequest
diff change difference
review feedback critique evaluation
comment remark reply
pipeline workflow build ci
workflow process pipeline automation flow
automation workflow automate
job task process
task todo chore assignment
todo task reminder checklist
checklist list todo
project initiative
board kanban
card ticket
sprint iteration
milestone goal
process procedure
thread conversation
queue backlog
message msg chat text dm
chat conversation message talk
conversation chat dialogue discussion talk
channel room chat
email mail gmail inbox message
inbox mail
sms text message
phone telephone mobile cell call smartphone
call phone ring
contact person address
notification alert push
webhook callback hook
api endpoint service
endpoint route url
request call
response reply answer
server backend
device gadget hardware appliance
sensor detector
iot smart device
robot bot automation
bot robot chatbot
drone uav
printer print
screen display monitor
keyboard key
mouse pointer click
button click
form survey questionnaire
survey poll questionnaire quiz form
input entry
output result
template pattern boilerplate
prompt instruction
model algorithm network
ai ml intelligence
ml machinelearning
embedding vector
vector embedding
similarity similar distance
dataset training
neural network
llm gpt model
agent assistant bot
knowledge wiki encyclopedia
wikipedia wiki encyclopedia
graph network
node vertex
edge relation link
entity object thing
relation relationship link connection
regex pattern
hash checksum
encoding base64 encode
qr qrcode barcode
barcode upc code
font typeface typography
color colour hue palette
theme style
design layout ui ux
ui interface ux frontend
frontend ui client
backend server
mobile phone android ios
android mobile
ios iphone mobile
game gaming videogame
3d model mesh
blockchain crypto web3
crypto cryptocurrency bitcoin ethereum coin token btc eth
wallet purse balance
nft token collectible
contract agreement
transcript transcription subtitle caption
ocr scan recognition
thumbnail preview
clipboard paste
terminal shell console command cli bash
command instruction shell
ssh remote shell
cron schedule job timer
timer stopwatch countdown
backup snapshot copy
archive zip
feed rss
tag label keyword hashtag
keyword term
hashtag tag
seo ranking keyword
traffic visitors
visitor traffic guest
advertisement ad advert campaign ppc
campaign promotion
marketing promotion advertising
`;
