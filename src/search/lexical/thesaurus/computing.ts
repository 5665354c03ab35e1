/** Files, programs, networks and the work with them: words for one and the same thing, a line each. */
export const COMPUTING = `
file document doc attachment
folder directory path
document paper report file pdf doc
text string content
image picture photo photograph pic graphic visual illustration
icon logo emblem symbol
logo brand
video clip movie film footage
audio sound voice speech recording
speech voice spoken tts narration
gif animation animated
screenshot screen capture snapshot
screen display monitor
camera webcam
spreadsheet excel sheet workbook xlsx csv
slide presentation powerpoint deck pptx
table grid spreadsheet
table dataset relation
row record entry
record entry item document
column field attribute
chart graph plot diagram
diagram flowchart drawing schematic
flowchart process flow
mindmap diagram
dashboard panel
database db datastore
database sql postgres mysql sqlite
postgres postgresql pg psql
sql query database statement
schema structure definition table
dataset data corpus
information info detail data
detail description info
id identifier uid uuid guid
name title label
title heading headline
metadata attribute property info
property attribute field characteristic
type kind category class
list array collection
collection set group
object entity item
entity node object
json object
xml markup
html webpage markup
markdown md
web website site internet online
website webpage page site
url link address uri href hyperlink
domain hostname dns host
browser chrome firefox webpage
tab window page
form input field
button click
popup dialog modal alert
extension plugin addon
addon plugin extension
cookie session
cache memory
engine google bing
server host machine
instance vm machine server
cluster kubernetes k8s
kubernetes k8s kubectl
container docker pod
docker container
replica instance copy
cloud aws azure gcp
bucket storage s3 container
storage disk drive space
memory ram
cpu processor
gpu graphics
network internet lan connectivity
wifi wireless
proxy vpn
firewall security
security safety protection secure
vulnerability exploit weakness cve
malware virus ransomware
threat attack risk
breach leak exposed compromise hack
hack intrusion breach
password passphrase passcode credential
credential password secret
secret key token password
certificate ssl tls cert
permission access privilege right
user account member person
account profile user
profile bio account
group team
team squad club
admin administrator
log trace journal
error exception bug fault failure issue problem
bug issue defect error
issue ticket bug problem
ticket issue case
incident outage
alert alarm notification warning
metric measurement statistic kpi
statistic stats analytics metric
report summary statement
status state condition
history past log previous
performance speed efficiency
slow latency performance
latency delay lag
test check exam
code program source script snippet
script program code
app application software program
package module library dependency
function method procedure
parameter argument option
setting configuration option preference config
environment env
variable env
version release revision
repository repo codebase
github git repository
gitlab git repository
commit revision change
pr pullrequest pull
diff change difference
review feedback critique
comment remark reply
pipeline workflow build ci
workflow process pipeline automation flow
job task process
task todo chore assignment
todo task reminder checklist
checklist list todo
project initiative
board kanban trello
card ticket
milestone goal
thread conversation reply
queue backlog
message msg chat text dm
chat conversation message talk
conversation chat dialogue discussion
channel room
email mail gmail inbox
sms text message
phone telephone mobile cell smartphone
call phone ring dial
contact person
notification alert push
webhook callback hook
api endpoint service
endpoint route url
request call
response reply answer
device gadget hardware appliance
sensor detector
iot smart device
robot bot
chatbot bot assistant
drone uav
survey poll questionnaire
quiz trivia test
template pattern boilerplate
prompt instruction
model algorithm
ai artificialintelligence intelligence
ml machinelearning
llm gpt model language
inference prediction generate
embedding vector
similar like related alike comparable
knowledge wiki encyclopedia
wikipedia wiki encyclopedia
node vertex
edge relation link
relation relationship link connection association
regex pattern
qr qrcode
barcode upc
font typeface typography
color colour hue
theme style
ui interface frontend
mobile phone android ios
iphone ios apple
game gaming videogame
blockchain crypto web3
crypto cryptocurrency bitcoin ethereum
wallet balance
transcript transcription subtitle caption
ocr scan recognition
thumbnail preview
terminal shell console command cli bash
ssh remote shell
cron schedule timer
timer stopwatch countdown alarm
feed rss
tag label keyword
label tag category
hashtag tag
keyword term word
visitor traffic guest
advertisement ad advert ads
advertising marketing promotion
campaign promotion
content article text
asset media file image
cms content
draft unsent
published live public
visible public
notebook note
vault notebook
memory remember
backup copy
folder collection
workspace space team
`;
