/** What people say and what tools call it, a line each. */
export const PLAIN_WORDS = `
high height tall altitude elevation
deep depth
wide width breadth
long length duration
far distance
heavy weigh weight mass
old age
fast speed velocity quick
hot warm cold temperature
loud volume sound
bright brightness dim light
big large size dimension
many number count amount quantity
much amount quantity price
often frequency frequently
worth value price
expensive price cost
cheap price discount
rich wealth
owe debt balance
spend spending expense cost budget
earn income salary
dollar euro pound yen rupee currency
cash money payment
odds probability chance likelihood
lived resident inhabitant population
people population
lawsuit case litigation court suit
sue lawsuit legal
lawyer legal law
tick mark check complete done
crossed complete done
pixel resolution resize dimension
smaller shrink resize compress reduce
bigger enlarge resize increase
blurry sharpen
louder volume
quieter volume mute
darker brightness dim
perform performance concert show
gig concert event
playing showtime screening schedule
plays performance show
sick ill illness disease
hurt pain injury symptom
ache pain symptom
pill medication medicine
shot vaccine vaccination
hungry food restaurant
thirsty drink
tired sleep
sad mood emotion
die death mortality
born birth birthday
marry marriage wedding
spell spelling
mean meaning definition
broken repair fix damage
stolen theft steal
lost missing find
crash error accident
stuck problem error
slow performance speed
late delay delayed
early time
tonight today evening
morning day time
visit appointment trip
dentist doctor appointment
meet meeting appointment
remind reminder notification
jot note write
ring call phone
text sms message
mailbox inbox email
write message compose
say translate pronounce language
speak language conversation
foreign language translate
neighborhood area local district
place location restaurant venue
spot location place
directions route navigation
lift ride taxi
pick select choose
throw roll toss
bet odds gambling betting
money finance financial
invest stock portfolio
shares stock
save saving money
kids children child
mom mother parent
film movie cinema
flick movie film
tune song music
show series tv
clip video
pic picture image photo
selfie photo camera
snap photo screenshot
wallpaper image background
doc document file
sheet spreadsheet
slides presentation
folder directory
zip compress archive
login account password
site website web
page website web
webpage url website
link url
google search web
look search find view
dig search research
report news summary
grade score rating
smart intelligent ai
bot assistant chatbot
draw picture image illustration
paint draw art
logo design brand
shape geometry
sides polygon triangle
root equation solve
average mean statistics
guess estimate predict
growth increase rate trend
trend popular trending
famous popular celebrity
cook recipe food
dish recipe food
wear clothing outfit
clothes fashion clothing
`;
